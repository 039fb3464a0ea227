// example_1, kernels: 1; written by Stax
#define STAX_LEVEL 2
#include "stax_simd.h"
#include "stax_reductions.h"

/* kernel k0  (op0, op1)  from programs.py:49
     primals_1: f32[64,128]
     buf1: f32[64,1]
     buf2: f32[64,128]
     for i0 in 64 parallel
       for r in 128 reduced
           a1: f32 = sum, lanes 32 chunk 4096
         t0: f32 = load primals_1[i0, r]
         a1 <- t0
       buf1[i0, 0] = a1
       t3: f32 = load buf1[i0, 0]
       for j0 in 128 parallel
         t2: f32 = load primals_1[i0, j0]
         t4: f32 = divide t2, t3
         buf2[i0, j0] = t4
*/
static void k0(void *const *b, i64 begin, i64 end, int *flags) {
    const f32 *const restrict primals_1 = b[0];  // (64, 128)
    f32 *const restrict buf1 = b[1];  // (64, 1)
    f32 *const restrict buf2 = b[2];  // (64, 128)
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
                    const f32x16 t0 = load_f32x16(primals_1 + (128*i0 + r));
                    v_a1[u] = v_a1[u] + t0;
                }
            }
            for (i64 u = 0; u < 1; u++) v_a1[u] = v_a1[u] + v_a1[u + 1];
            a1 = fold_sum_f32x16(v_a1[0]);
        }
        buf1[i0] = a1;
        const f32 t3 = buf1[i0];
        {
            i64 j0 = 0;
            for (; j0 + 16 <= 128; j0 += 16) {
                const f32x16 t2 = load_f32x16(primals_1 + (128*i0 + j0));
                const f32x16 t4 = t2 / splat_f32x16(t3);
                store_f32x16(buf2 + (128*i0 + j0), t4);
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
