// softmax, kernels: 1; written by Stax
#define STAX_LEVEL 2
#include "stax_simd.h"
#include "stax_reductions.h"

int omp_get_thread_num(void);
int omp_get_num_threads(void);

static inline f32x16 exp_f32x16(f32x16 x) {
    const f32x16 clamped = max_f32x16(splat_f32x16(-0x1.ap+6f), x);  // NaN passes
    const f32x16 shifted = fma_f32x16(clamped, splat_f32x16(0x1.715476p+0f), splat_f32x16(0x1.8p+23f));
    const f32x16 n = shifted - splat_f32x16(0x1.8p+23f);  // x / ln 2 to nearest
    const f32x16 high = fma_f32x16(n, splat_f32x16(-0x1.62e4p-1f), clamped);
    const f32x16 r = fma_f32x16(n, splat_f32x16(-0x1.7f7d1cp-20f), high);  // x - n ln 2, |r| <= ln(2)/2
    const i32x16 t5 = bits_f32x16(shifted);
    const i32x16 exponent = t5 << 23;  // n as an exponent field
    const f32x16 t7 = fma_f32x16(splat_f32x16(0x1.6a0e48p-10f), r, splat_f32x16(0x1.1238dep-7f));
    const f32x16 t8 = fma_f32x16(t7, r, splat_f32x16(0x1.55589cp-5f));
    const f32x16 t9 = fma_f32x16(t8, r, splat_f32x16(0x1.555492p-3f));
    const f32x16 t10 = fma_f32x16(t9, r, splat_f32x16(0x1.fffffcp-2f));
    const f32x16 t11 = fma_f32x16(t10, r, splat_f32x16(0x1p+0f));
    const f32x16 p = fma_f32x16(r, t11, splat_f32x16(0x1p+0f));  // exp(r)
    const i32x16 t13 = bits_f32x16(p);
    const i32x16 normal = t13 + exponent;  // the bits of p 2^n
    const i32x16 t15 = normal + 0x4a800000;
    const f32x16 t16 = float_f32x16(t15);
    const f32x16 t17 = t16 + splat_f32x16(0x1p+23f);
    const i32x16 t18 = bits_f32x16(t17);
    const i32x16 subnormal = t18 - 0x4b000000;  // the bits of p 2^n below the normal range
    const i32x16 t20 = ge_f32x16(x, splat_f32x16(-0x1.5d589ep+6f));
    const f32x16 t21 = float_f32x16(normal);
    const f32x16 t22 = float_f32x16(subnormal);
    const f32x16 t23 = select_f32x16(t20, t21, t22);
    const f32x16 outside = x + splat_f32x16(__builtin_inff());  // overflow or NaN
    const i32x16 t25 = le_f32x16(x, splat_f32x16(0x1.62e42ep+6f));
    const f32x16 t26 = select_f32x16(t25, t23, outside);
    return t26;
}

/* kernel k0  (top, e, sum, out)  from programs.py:22, programs.py:23, programs.py:24
     x: f32[512,1000]
     out: f32[512,1000]
     for i0 in 512 parallel
       local e: f32[1000]
       for r in 1000 reduced
           a1: f32 = max, lanes 32 chunk 4096
         t0: f32 = load x[i0, r]
         a1 <- t0
       for r in 1000 reduced
           a5: f32 = sum, lanes 32 chunk 4096
         t2: f32 = load x[i0, r]
         t3: f32 = subtract t2, a1
         t4: f32 = exp t3
         e[r] = t4
         a5 <- t4
       for j0 in 1000 parallel
         t6: f32 = load e[j0]
         t7: f32 = divide t6, a5
         out[i0, j0] = t7
*/
static void k0(void *const *b, i64 begin, i64 end, int *flags) {
    const f32 *const restrict x = b[0];  // (512, 1000)
    f32 *const restrict out = b[4];  // (512, 1000)
    (void)flags;
    for (i64 i0 = begin; i0 < end; i0++) {
        f32 e[1000] __attribute__((aligned(64)));
        f32 a1;
        {
            f32x16 v_a1[2];
            for (i64 u = 0; u < 2; u++) v_a1[u] = splat_f32x16(-__builtin_inff());
            i64 r_0 = 0;
            for (; r_0 + 32 <= 1000; r_0 += 32) {
#pragma GCC unroll 8
                for (i64 u = 0; u < 2; u++) {
                    const i64 r = r_0 + 16 * u;
                    const f32x16 t0 = load_f32x16(x + (1000*i0 + r));
                    v_a1[u] = maximum_f32x16(v_a1[u], t0);
                }
            }
#pragma GCC unroll 8
            for (i64 u = 0; u < 2; u++) {
                const i64 r = r_0 + 16 * u;
                const i64 n = 1000 - r < 16 ? 1000 - r : 16;
                if (n <= 0) break;
                const f32x16 t0 = loadn_f32x16(x + (1000*i0 + r), n, 0);
                v_a1[u] = maximum_f32x16(v_a1[u], select_f32x16(lanes_i32x16(n), t0, splat_f32x16(-__builtin_inff())));
            }
            for (i64 u = 0; u < 1; u++) v_a1[u] = maximum_f32x16(v_a1[u], v_a1[u + 1]);
            a1 = fold_max_f32x16(v_a1[0]);
        }
        f32 a5;
        {
            f32x16 v_a5[2];
            for (i64 u = 0; u < 2; u++) v_a5[u] = splat_f32x16(-0x0p+0f);
            i64 r_0 = 0;
            for (; r_0 + 32 <= 1000; r_0 += 32) {
#pragma GCC unroll 8
                for (i64 u = 0; u < 2; u++) {
                    const i64 r = r_0 + 16 * u;
                    const f32x16 t2 = load_f32x16(x + (1000*i0 + r));
                    const f32x16 t3 = t2 - splat_f32x16(a1);
                    const f32x16 t4 = exp_f32x16(t3);
                    store_f32x16(e + r, t4);
                    v_a5[u] = v_a5[u] + t4;
                }
            }
#pragma GCC unroll 8
            for (i64 u = 0; u < 2; u++) {
                const i64 r = r_0 + 16 * u;
                const i64 n = 1000 - r < 16 ? 1000 - r : 16;
                if (n <= 0) break;
                const f32x16 t2 = loadn_f32x16(x + (1000*i0 + r), n, 0);
                const f32x16 t3 = t2 - splat_f32x16(a1);
                const f32x16 t4 = exp_f32x16(t3);
                storen_f32x16(e + r, t4, n);
                v_a5[u] = v_a5[u] + select_f32x16(lanes_i32x16(n), t4, splat_f32x16(-0x0p+0f));
            }
            for (i64 u = 0; u < 1; u++) v_a5[u] = v_a5[u] + v_a5[u + 1];
            a5 = fold_sum_f32x16(v_a5[0]);
        }
        {
            i64 j0 = 0;
            for (; j0 + 16 <= 1000; j0 += 16) {
                const f32x16 t6 = load_f32x16(e + j0);
                const f32x16 t7 = t6 / splat_f32x16(a5);
                store_f32x16(out + (1000*i0 + j0), t7);
            }
            if (j0 < 1000) {
                const i64 n = 1000 - j0;  // lanes left
                const f32x16 t6 = loadn_f32x16(e + j0, n, 0);
                const f32x16 t7 = t6 / splat_f32x16(a5);
                storen_f32x16(out + (1000*i0 + j0), t7, n);
            }
        }
    }
}

int stax_launch_0_serial(void *const *b) {
    int flags = 0;
    const u32 env = stax_enter();
    k0(b, 0, 512, &flags);
    stax_leave(env);
    return flags;
}

int stax_launch_0_parallel(void *const *b, int threads) {
    int flags = 0;
#pragma omp parallel num_threads(threads)
    {
        const u32 env = stax_enter();
        const i64 thread = omp_get_thread_num(), count = omp_get_num_threads();
        k0(b, stax_part(512, thread, count, 1), stax_part(512, thread + 1, count, 1), &flags);
        stax_leave(env);
    }
    return flags;
}
