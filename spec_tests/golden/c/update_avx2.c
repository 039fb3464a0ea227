// update, kernels: 2; written by Stax
#define STAX_LEVEL 1
#include "stax_simd.h"
#include "stax_reductions.h"

/* kernel k0  (before)  from programs.py:120
     w: f32[64,128]
     before: f32[128]
     for i0 in 128 parallel
       for r in 64 reduced
           a1: f32 = sum, rows 256
         t0: f32 = load w[-r + 63, i0]
         a1 <- t0
       before[i0] = a1
*/
static void k0(void *const *b, i64 begin, i64 end, int *flags) {
    const f32 *const restrict w = b[0];  // (64, 128)
    f32 *const restrict before = b[2];  // (128)
    (void)flags;
    for (i64 i0_0 = begin; i0_0 < end; i0_0 += 64) {
        if (i0_0 + 64 <= end) {
            f32x8 a1[8];
            f32x8 s_a1[8];
            for (i64 u = 0; u < 8; u++) s_a1[u] = splat_f32x8(-0x0p+0f);
            for (i64 r = 0; r < 64; r++) {
#pragma GCC unroll 8
                for (i64 u = 0; u < 8; u++) {
                    const i64 i0 = i0_0 + 8 * u;
                    const f32x8 t0 = load_f32x8(w + (-128*r + i0 + 8064));
                    s_a1[u] = s_a1[u] + t0;
                }
            }
            for (i64 u = 0; u < 8; u++) a1[u] = s_a1[u];
            for (i64 u = 0; u < 8; u++) {
                const i64 i0 = i0_0 + 8 * u;
                store_f32x8(before + i0, a1[u]);
            }
        }
        else {
            {
                i64 i0 = i0_0;
                for (; i0 + 8 <= end; i0 += 8) {
                    f32x8 a1;
                    {
                        f32x8 s_a1 = splat_f32x8(-0x0p+0f);
                        for (i64 r = 0; r < 64; r++) {
                            const f32x8 t0 = load_f32x8(w + (-128*r + i0 + 8064));
                            s_a1 = s_a1 + t0;
                        }
                        a1 = s_a1;
                    }
                    store_f32x8(before + i0, a1);
                }
                if (i0 < end) {
                    const i64 n = end - i0;  // lanes left
                    f32x8 a1;
                    {
                        f32x8 s_a1 = splat_f32x8(-0x0p+0f);
                        for (i64 r = 0; r < 64; r++) {
                            const f32x8 t0 = loadn_f32x8(w + (-128*r + i0 + 8064), n, 0);
                            s_a1 = s_a1 + t0;
                        }
                        a1 = s_a1;
                    }
                    storen_f32x8(before + i0, a1, n);
                }
            }
        }
    }
}

/* kernel k1  (rows, out)  from programs.py:120, programs.py:121
     w: f32[64,128]
     g: f32[64,128]
     out: f32[64,128] in place of w
     for i0 in 64 parallel
       for r in 128 reduced
           a2: f32 = sum, lanes 32 chunk 4096
         t0: f32 = load w[i0, r]
         t1: f32 = multiply t0, t0
         a2 <- t1
       for j0 in 128 parallel
         t3: f32 = load w[i0, j0]
         t4: f32 = load g[i0, j0]
         t5: f32 = divide t4, a2
         t6: f32 = subtract t3, t5
         out[i0, j0] = t6
*/
static void k1(void *const *b, i64 begin, i64 end, int *flags) {
    const f32 *const w = b[0];  // (64, 128)
    const f32 *const restrict g = b[1];  // (64, 128)
    f32 *const out = b[4];  // (64, 128)
    (void)flags;
    for (i64 i0 = begin; i0 < end; i0++) {
        f32 a2;
        {
            f32x8 v_a2[4];
            for (i64 u = 0; u < 4; u++) v_a2[u] = splat_f32x8(-0x0p+0f);
            i64 r_0 = 0;
            for (; r_0 + 32 <= 128; r_0 += 32) {
#pragma GCC unroll 8
                for (i64 u = 0; u < 4; u++) {
                    const i64 r = r_0 + 8 * u;
                    const f32x8 t0 = load_f32x8(w + (128*i0 + r));
                    const f32x8 t1 = t0 * t0;
                    v_a2[u] = v_a2[u] + t1;
                }
            }
            for (i64 u = 0; u < 2; u++) v_a2[u] = v_a2[u] + v_a2[u + 2];
            for (i64 u = 0; u < 1; u++) v_a2[u] = v_a2[u] + v_a2[u + 1];
            a2 = fold_sum_f32x8(v_a2[0]);
        }
        {
            i64 j0 = 0;
            for (; j0 + 8 <= 128; j0 += 8) {
                const f32x8 t3 = load_f32x8(w + (128*i0 + j0));
                const f32x8 t4 = load_f32x8(g + (128*i0 + j0));
                const f32x8 t5 = t4 / splat_f32x8(a2);
                const f32x8 t6 = t3 - t5;
                store_f32x8(out + (128*i0 + j0), t6);
            }
        }
    }
}

int stax_launch_0_serial(void *const *b) {
    int flags = 0;
    const u32 env = stax_enter();
    k0(b, 0, 128, &flags);
    k1(b, 0, 64, &flags);
    stax_leave(env);
    return flags;
}
