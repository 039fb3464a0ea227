// example_2, kernels: 2; written by Stax
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

/* kernel k0  (op0)  from programs.py:53
     primals_1: f32[64,128]
     buf1: f32[64,128]
     for i0 in 8192 parallel
       t0: f32 = load primals_1.flat[i0]
       t1: f32 = exp t0
       buf1.flat[i0] = t1
*/
static void k0(void *const *b, i64 begin, i64 end, int *flags) {
    const f32 *const restrict primals_1 = b[0];  // (64, 128)
    f32 *const restrict buf1 = b[1];  // (64, 128)
    (void)flags;
    {
        i64 i0 = begin;
        for (; i0 + 8 <= end; i0 += 8) {
            const f32x8 t0 = load_f32x8(primals_1 + i0);
            const f32x8 t1 = exp_f32x8(t0);
            store_f32x8(buf1 + i0, t1);
        }
        if (i0 < end) {
            const i64 n = end - i0;  // lanes left
            const f32x8 t0 = loadn_f32x8(primals_1 + i0, n, 0);
            const f32x8 t1 = exp_f32x8(t0);
            storen_f32x8(buf1 + i0, t1, n);
        }
    }
}

/* kernel k1  (op1, op2)  from programs.py:54
     buf1: f32[64,128]
     buf2: f32[64]
     buf3: f32[64]
     for i0 in 64 parallel
       for r in 128 reduced
           a1: f32 = sum, lanes 32 chunk 4096
           a2: f32 = max, lanes 32 chunk 4096
         t0: f32 = load buf1[i0, r]
         a1 <- t0
         a2 <- t0
       buf2[i0] = a1
       buf3[i0] = a2
*/
static void k1(void *const *b, i64 begin, i64 end, int *flags) {
    const f32 *const restrict buf1 = b[1];  // (64, 128)
    f32 *const restrict buf2 = b[2];  // (64)
    f32 *const restrict buf3 = b[3];  // (64)
    (void)flags;
    for (i64 i0 = begin; i0 < end; i0++) {
        f32 a1;
        f32 a2;
        {
            f32x8 v_a1[4];
            for (i64 u = 0; u < 4; u++) v_a1[u] = splat_f32x8(-0x0p+0f);
            f32x8 v_a2[4];
            for (i64 u = 0; u < 4; u++) v_a2[u] = splat_f32x8(-__builtin_inff());
            i64 r_0 = 0;
            for (; r_0 + 32 <= 128; r_0 += 32) {
#pragma GCC unroll 8
                for (i64 u = 0; u < 4; u++) {
                    const i64 r = r_0 + 8 * u;
                    const f32x8 t0 = load_f32x8(buf1 + (128*i0 + r));
                    v_a1[u] = v_a1[u] + t0;
                    v_a2[u] = maximum_f32x8(v_a2[u], t0);
                }
            }
            for (i64 u = 0; u < 2; u++) v_a1[u] = v_a1[u] + v_a1[u + 2];
            for (i64 u = 0; u < 1; u++) v_a1[u] = v_a1[u] + v_a1[u + 1];
            a1 = fold_sum_f32x8(v_a1[0]);
            for (i64 u = 0; u < 2; u++) v_a2[u] = maximum_f32x8(v_a2[u], v_a2[u + 2]);
            for (i64 u = 0; u < 1; u++) v_a2[u] = maximum_f32x8(v_a2[u], v_a2[u + 1]);
            a2 = fold_max_f32x8(v_a2[0]);
        }
        buf2[i0] = a1;
        buf3[i0] = a2;
    }
}

int stax_launch_0_serial(void *const *b) {
    int flags = 0;
    const u32 env = stax_enter();
    k0(b, 0, 8192, &flags);
    stax_leave(env);
    return flags;
}

int stax_launch_1_serial(void *const *b) {
    int flags = 0;
    const u32 env = stax_enter();
    k1(b, 0, 64, &flags);
    stax_leave(env);
    return flags;
}
