// rownorm, kernels: 1; written by Stax
#define STAX_LEVEL 2
#include "stax_simd.h"
#include "stax_reductions.h"

/* kernel k0  (sum, out)  from programs.py:18
     x: f32[64,128]
     out: f32[64,128]
     for i0 in 64 parallel
       for r in 128 reduced
           a1: f32 = sum, lanes 32 chunk 4096
         t0: f32 = load x[i0, r]
         a1 <- t0
       for j0 in 128 parallel
         t2: f32 = load x[i0, j0]
         t3: f32 = divide t2, a1
         out[i0, j0] = t3
*/
static void k0(void *const *b, i64 begin, i64 end, int *flags) {
    const f32 *const restrict x = b[0];  // (64, 128)
    f32 *const restrict out = b[2];  // (64, 128)
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
        {
            i64 j0 = 0;
            for (; j0 + 16 <= 128; j0 += 16) {
                const f32x16 t2 = load_f32x16(x + (128*i0 + j0));
                const f32x16 t3 = t2 / splat_f32x16(a1);
                store_f32x16(out + (128*i0 + j0), t3);
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
