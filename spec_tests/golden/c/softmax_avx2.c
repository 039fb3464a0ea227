// softmax, kernels: 1; written by Stax
#define STAX_LEVEL 1
#include "stax_simd.h"
#include "stax_reductions.h"

static inline f32x8 exp_f32x8(f32x8 x) {
    const f32x8 clamped = max_f32x8(splat_f32x8(-0x1.ap+6f), x);  // NaN passes
    const f32x8 shifted = fma_f32x8(clamped, splat_f32x8(0x1.715476p+0f), splat_f32x8(0x1.8p+23f));
    const f32x8 n = shifted - splat_f32x8(0x1.8p+23f);  // x / ln 2 to nearest
    const f32x8 high = fma_f32x8(n, splat_f32x8(-0x1.62e4p-1f), clamped);
    const f32x8 r = fma_f32x8(n, splat_f32x8(-0x1.7f7d1cp-20f), high);  // x - n ln 2, |r| <= ln(2)/2
    const i32x8 t5 = bits_f32x8(shifted);
    const i32x8 exponent = t5 << 23;  // n as an exponent field
    const f32x8 t7 = fma_f32x8(splat_f32x8(0x1.6a0e48p-10f), r, splat_f32x8(0x1.1238dep-7f));
    const f32x8 t8 = fma_f32x8(t7, r, splat_f32x8(0x1.55589cp-5f));
    const f32x8 t9 = fma_f32x8(t8, r, splat_f32x8(0x1.555492p-3f));
    const f32x8 t10 = fma_f32x8(t9, r, splat_f32x8(0x1.fffffcp-2f));
    const f32x8 t11 = fma_f32x8(t10, r, splat_f32x8(0x1p+0f));
    const f32x8 p = fma_f32x8(r, t11, splat_f32x8(0x1p+0f));  // exp(r)
    const i32x8 t13 = bits_f32x8(p);
    const i32x8 normal = t13 + exponent;  // the bits of p 2^n
    const i32x8 t15 = normal + 0x4a800000;
    const f32x8 t16 = float_f32x8(t15);
    const f32x8 t17 = t16 + splat_f32x8(0x1p+23f);
    const i32x8 t18 = bits_f32x8(t17);
    const i32x8 subnormal = t18 - 0x4b000000;  // the bits of p 2^n below the normal range
    const i32x8 t20 = ge_f32x8(x, splat_f32x8(-0x1.5d589ep+6f));
    const f32x8 t21 = float_f32x8(normal);
    const f32x8 t22 = float_f32x8(subnormal);
    const f32x8 t23 = select_f32x8(t20, t21, t22);
    const f32x8 outside = x + splat_f32x8(__builtin_inff());  // overflow or NaN
    const i32x8 t25 = le_f32x8(x, splat_f32x8(0x1.62e42ep+6f));
    const f32x8 t26 = select_f32x8(t25, t23, outside);
    return t26;
}

/* kernel k0  (top, e, sum, out)  from programs.py:22, programs.py:23, programs.py:24
     x: f32[64,128]
     out: f32[64,128]
     for i0 in 64 parallel
       local e: f32[128]
       for r in 128 reduced
           a1: f32 = max, lanes 32 chunk 4096
         t0: f32 = load x[i0, r]
         a1 <- t0
       for r in 128 reduced
           a5: f32 = sum, lanes 32 chunk 4096
         t2: f32 = load x[i0, r]
         t3: f32 = subtract t2, a1
         t4: f32 = exp t3
         e[r] = t4
         a5 <- t4
       for j0 in 128 parallel
         t6: f32 = load e[j0]
         t7: f32 = divide t6, a5
         out[i0, j0] = t7
*/
static void k0(void *const *b, i64 begin, i64 end, int *flags) {
    const f32 *const restrict x = b[0];  // (64, 128)
    f32 *const restrict out = b[4];  // (64, 128)
    (void)flags;
    for (i64 i0 = begin; i0 < end; i0++) {
        f32 e[128] __attribute__((aligned(64)));
        f32 a1;
        {
            f32x8 v_a1[4];
            for (i64 u = 0; u < 4; u++) v_a1[u] = splat_f32x8(-__builtin_inff());
            i64 r_0 = 0;
            for (; r_0 + 32 <= 128; r_0 += 32) {
#pragma GCC unroll 8
                for (i64 u = 0; u < 4; u++) {
                    const i64 r = r_0 + 8 * u;
                    const f32x8 t0 = load_f32x8(x + (128*i0 + r));
                    v_a1[u] = maximum_f32x8(v_a1[u], t0);
                }
            }
            for (i64 u = 0; u < 2; u++) v_a1[u] = maximum_f32x8(v_a1[u], v_a1[u + 2]);
            for (i64 u = 0; u < 1; u++) v_a1[u] = maximum_f32x8(v_a1[u], v_a1[u + 1]);
            a1 = fold_max_f32x8(v_a1[0]);
        }
        f32 a5;
        {
            f32x8 v_a5[4];
            for (i64 u = 0; u < 4; u++) v_a5[u] = splat_f32x8(-0x0p+0f);
            i64 r_0 = 0;
            for (; r_0 + 32 <= 128; r_0 += 32) {
#pragma GCC unroll 8
                for (i64 u = 0; u < 4; u++) {
                    const i64 r = r_0 + 8 * u;
                    const f32x8 t2 = load_f32x8(x + (128*i0 + r));
                    const f32x8 t3 = t2 - splat_f32x8(a1);
                    const f32x8 t4 = exp_f32x8(t3);
                    store_f32x8(e + r, t4);
                    v_a5[u] = v_a5[u] + t4;
                }
            }
            for (i64 u = 0; u < 2; u++) v_a5[u] = v_a5[u] + v_a5[u + 2];
            for (i64 u = 0; u < 1; u++) v_a5[u] = v_a5[u] + v_a5[u + 1];
            a5 = fold_sum_f32x8(v_a5[0]);
        }
        {
            i64 j0 = 0;
            for (; j0 + 8 <= 128; j0 += 8) {
                const f32x8 t6 = load_f32x8(e + j0);
                const f32x8 t7 = t6 / splat_f32x8(a5);
                store_f32x8(out + (128*i0 + j0), t7);
            }
        }
    }
}

int stax_launch_0_serial(void *const *b) {
    int flags = 0;
    const u32 env = stax_enter();
    k0(b, 0, 64, &flags);
    stax_leave(env);
    return flags;
}
