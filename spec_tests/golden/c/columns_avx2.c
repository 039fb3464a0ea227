// columns, kernels: 1; written by Stax
#define STAX_LEVEL 1
#include "stax_simd.h"
#include "stax_reductions.h"

/* kernel k0  (out, out_1)  from programs.py:62
     x: f32[300,70]
     out: f32[70]
     out_1: f32[70]
     for i0 in 70 parallel
       for r in 300 reduced
           a1: f32 = sum, rows 256
           a2: f32 = max, rows 256
         t0: f32 = load x[r, i0]
         a1 <- t0
         a2 <- t0
       out[i0] = a1
       out_1[i0] = a2
*/
static void k0(void *const *b, i64 begin, i64 end, int *flags) {
    const f32 *const restrict x = b[0];  // (300, 70)
    f32 *const restrict out = b[1];  // (70)
    f32 *const restrict out_1 = b[2];  // (70)
    (void)flags;
    for (i64 i0_0 = begin; i0_0 < end; i0_0 += 32) {
        if (i0_0 + 32 <= end) {
            f32x8 a1[4];
            pairs_sum_f32x8 p_a1[4];
            for (i64 u = 0; u < 4; u++) p_a1[u].count = 0;
            f32x8 a2[4];
            for (i64 u = 0; u < 4; u++) a2[u] = splat_f32x8(-__builtin_inff());
            for (i64 c = 0; c < 300; c += 256) {
                const i64 stop = c + 256 < 300 ? c + 256 : 300;
                f32x8 s_a1[4];
                for (i64 u = 0; u < 4; u++) s_a1[u] = splat_f32x8(-0x0p+0f);
                f32x8 s_a2[4];
                for (i64 u = 0; u < 4; u++) s_a2[u] = splat_f32x8(-__builtin_inff());
                for (i64 r = c; r < stop; r++) {
#pragma GCC unroll 8
                    for (i64 u = 0; u < 4; u++) {
                        const i64 i0 = i0_0 + 8 * u;
                        const f32x8 t0 = load_f32x8(x + (70*r + i0));
                        s_a1[u] = s_a1[u] + t0;
                        s_a2[u] = maximum_f32x8(s_a2[u], t0);
                    }
                }
                for (i64 u = 0; u < 4; u++) {
                    push_sum_f32x8(&p_a1[u], s_a1[u]);
                }
                for (i64 u = 0; u < 4; u++) {
                    a2[u] = maximum_f32x8(a2[u], s_a2[u]);
                }
            }
            for (i64 u = 0; u < 4; u++) {
                a1[u] = total_sum_f32x8(&p_a1[u]);
            }
            for (i64 u = 0; u < 4; u++) {
            }
            for (i64 u = 0; u < 4; u++) {
                const i64 i0 = i0_0 + 8 * u;
                store_f32x8(out + i0, a1[u]);
                store_f32x8(out_1 + i0, a2[u]);
            }
        }
        else {
            {
                i64 i0 = i0_0;
                for (; i0 + 8 <= end; i0 += 8) {
                    f32x8 a1;
                    f32x8 a2;
                    {
                        pairs_sum_f32x8 p_a1;
                        p_a1.count = 0;
                        a2 = splat_f32x8(-__builtin_inff());
                        for (i64 c = 0; c < 300; c += 256) {
                            const i64 stop = c + 256 < 300 ? c + 256 : 300;
                            f32x8 s_a1 = splat_f32x8(-0x0p+0f);
                            f32x8 s_a2 = splat_f32x8(-__builtin_inff());
                            for (i64 r = c; r < stop; r++) {
                                const f32x8 t0 = load_f32x8(x + (70*r + i0));
                                s_a1 = s_a1 + t0;
                                s_a2 = maximum_f32x8(s_a2, t0);
                            }
                            push_sum_f32x8(&p_a1, s_a1);
                            a2 = maximum_f32x8(a2, s_a2);
                        }
                        a1 = total_sum_f32x8(&p_a1);
                    }
                    store_f32x8(out + i0, a1);
                    store_f32x8(out_1 + i0, a2);
                }
                if (i0 < end) {
                    const i64 n = end - i0;  // lanes left
                    f32x8 a1;
                    f32x8 a2;
                    {
                        pairs_sum_f32x8 p_a1;
                        p_a1.count = 0;
                        a2 = splat_f32x8(-__builtin_inff());
                        for (i64 c = 0; c < 300; c += 256) {
                            const i64 stop = c + 256 < 300 ? c + 256 : 300;
                            f32x8 s_a1 = splat_f32x8(-0x0p+0f);
                            f32x8 s_a2 = splat_f32x8(-__builtin_inff());
                            for (i64 r = c; r < stop; r++) {
                                const f32x8 t0 = loadn_f32x8(x + (70*r + i0), n, 0);
                                s_a1 = s_a1 + t0;
                                s_a2 = maximum_f32x8(s_a2, t0);
                            }
                            push_sum_f32x8(&p_a1, s_a1);
                            a2 = maximum_f32x8(a2, s_a2);
                        }
                        a1 = total_sum_f32x8(&p_a1);
                    }
                    storen_f32x8(out + i0, a1, n);
                    storen_f32x8(out_1 + i0, a2, n);
                }
            }
        }
    }
}

int stax_launch_0_serial(void *const *b) {
    int flags = 0;
    const u32 env = stax_enter();
    k0(b, 0, 70, &flags);
    stax_leave(env);
    return flags;
}
