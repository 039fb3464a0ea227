// layernorm, kernels: 1; written by Stax
#define STAX_LEVEL 2
#include "stax_simd.h"
#include "stax_reductions.h"

/* kernel k0  (mean_sum, var_sum, out)  from programs.py:28, programs.py:29, programs.py:30
     x: f32[64,128]
     weight: f32[128]
     bias: f32[128]
     out: f32[64,128]
     for i0 in 64 parallel
       for r in 128 reduced
           a1: f32 = sum, lanes 32 chunk 4096
         t0: f32 = load x[i0, r]
         a1 <- t0
       t3: f32 = divide a1, 128.0
       for r in 128 reduced
           a6: f32 = sum, lanes 32 chunk 4096
         t2: f32 = load x[i0, r]
         t4: f32 = subtract t2, t3
         t5: f32 = multiply t4, t4
         a6 <- t5
       t9: f32 = divide a6, 128.0
       t10: f32 = add t9, 1e-05
       t11: f32 = sqrt t10
       for j0 in 128 parallel
         t7: f32 = load x[i0, j0]
         t8: f32 = subtract t7, t3
         t12: f32 = divide t8, t11
         t13: f32 = load weight[j0]
         t14: f32 = multiply t12, t13
         t15: f32 = load bias[j0]
         t16: f32 = add t14, t15
         out[i0, j0] = t16
*/
static void k0(void *const *b, i64 begin, i64 end, int *flags) {
    const f32 *const restrict x = b[0];  // (64, 128)
    const f32 *const restrict weight = b[1];  // (128)
    const f32 *const restrict bias = b[2];  // (128)
    f32 *const restrict out = b[5];  // (64, 128)
    (void)flags;
    for (i64 i0 = begin; i0 < end; i0++) {
        f32 a1;
        {
            f32x16 v_a1[2];
            for (i64 u = 0; u < 2; u++) v_a1[u] = splat_f32x16(-0x0p+0f);
            i64 r_0 = 0;
            for (; r_0 + 32 <= 128; r_0 += 32) {
#pragma GCC unroll 8
                for (i64 u = 0; u < 2; u++) {
                    const i64 r = r_0 + 16 * u;
                    const f32x16 t0 = load_f32x16(x + (128*i0 + r));
                    v_a1[u] = v_a1[u] + t0;
                }
            }
            for (i64 u = 0; u < 1; u++) v_a1[u] = v_a1[u] + v_a1[u + 1];
            a1 = fold_sum_f32x16(v_a1[0]);
        }
        const f32 t3 = a1 / 0x1p+7f;
        f32 a6;
        {
            f32x16 v_a6[2];
            for (i64 u = 0; u < 2; u++) v_a6[u] = splat_f32x16(-0x0p+0f);
            i64 r_0 = 0;
            for (; r_0 + 32 <= 128; r_0 += 32) {
#pragma GCC unroll 8
                for (i64 u = 0; u < 2; u++) {
                    const i64 r = r_0 + 16 * u;
                    const f32x16 t2 = load_f32x16(x + (128*i0 + r));
                    const f32x16 t4 = t2 - splat_f32x16(t3);
                    const f32x16 t5 = t4 * t4;
                    v_a6[u] = v_a6[u] + t5;
                }
            }
            for (i64 u = 0; u < 1; u++) v_a6[u] = v_a6[u] + v_a6[u + 1];
            a6 = fold_sum_f32x16(v_a6[0]);
        }
        const f32 t9 = a6 / 0x1p+7f;
        const f32 t10 = t9 + 0x1.4f8b58p-17f;
        const f32 t11 = sqrt_f32(t10);
        {
            i64 j0 = 0;
            for (; j0 + 16 <= 128; j0 += 16) {
                const f32x16 t7 = load_f32x16(x + (128*i0 + j0));
                const f32x16 t8 = t7 - splat_f32x16(t3);
                const f32x16 t12 = t8 / splat_f32x16(t11);
                const f32x16 t13 = load_f32x16(weight + j0);
                const f32x16 t14 = t12 * t13;
                const f32x16 t15 = load_f32x16(bias + j0);
                const f32x16 t16 = t14 + t15;
                store_f32x16(out + (128*i0 + j0), t16);
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
