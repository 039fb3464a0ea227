// variance, kernels: 2; written by Stax
#define STAX_LEVEL 2
#include "stax_simd.h"
#include "stax_reductions.h"

/* kernel k0  (out_mean_sum)  from programs.py:34
     x: f32[100,100]
     out_mean_sum: f32[1,1]
     for r in 10000 reduced
         a1: f32 = sum, lanes 32 chunk 4096
       t0: f32 = load x.flat[r]
       a1 <- t0
     out_mean_sum[0, 0] = a1
*/
static void k0(void *const *b, i64 begin, i64 end, int *flags) {
    const f32 *const restrict x = b[0];  // (100, 100)
    (void)flags;
    f32 *const restrict q_a1 = b[4];  // (3,)
    for (i64 at = begin; at < end; at++) {
        const i64 c = 4096 * at;
        const i64 stop = c + 4096 < 10000 ? c + 4096 : 10000;
        f32x16 v_a1[2];
        for (i64 u = 0; u < 2; u++) v_a1[u] = splat_f32x16(-0x0p+0f);
        i64 r_0 = c;
        for (; r_0 + 32 <= stop; r_0 += 32) {
#pragma GCC unroll 8
            for (i64 u = 0; u < 2; u++) {
                const i64 r = r_0 + 16 * u;
                const f32x16 t0 = load_f32x16(x + r);
                v_a1[u] = v_a1[u] + t0;
            }
        }
#pragma GCC unroll 8
        for (i64 u = 0; u < 2; u++) {
            const i64 r = r_0 + 16 * u;
            const i64 n = stop - r < 16 ? stop - r : 16;
            if (n <= 0) break;
            const f32x16 t0 = loadn_f32x16(x + r, n, 0);
            v_a1[u] = v_a1[u] + select_f32x16(lanes_i32x16(n), t0, splat_f32x16(-0x0p+0f));
        }
        for (i64 u = 0; u < 1; u++) v_a1[u] = v_a1[u] + v_a1[u + 1];
        q_a1[at] = fold_sum_f32x16(v_a1[0]);
    }
}

static void k0_finish(void *const *b, int *flags) {
    f32 *const restrict out_mean_sum = b[1];  // (1, 1)
    (void)flags;
    f32 a1;
    {
        const f32 *const q_a1 = b[4];
        pairs_sum_f32 p_a1;
        p_a1.count = 0;
        for (i64 at = 0; at < 3; at++) {
            push_sum_f32(&p_a1, q_a1[at]);
        }
        a1 = total_sum_f32(&p_a1);
    }
    out_mean_sum[0] = a1;
}

/* kernel k1  (out_sum, out)  from programs.py:34
     x: f32[100,100]
     out_mean_sum: f32[1,1]
     out: f32[]
     t1: f32 = load out_mean_sum[0, 0]
     t2: f32 = divide t1, 10000.0
     for r in 10000 reduced
         a5: f32 = sum, lanes 32 chunk 4096
       t0: f32 = load x.flat[r]
       t3: f32 = subtract t0, t2
       t4: f32 = multiply t3, t3
       a5 <- t4
     t6: f32 = divide a5, 10000.0
     out[] = t6
*/
static void k1(void *const *b, i64 begin, i64 end, int *flags) {
    const f32 *const restrict x = b[0];  // (100, 100)
    const f32 *const restrict out_mean_sum = b[1];  // (1, 1)
    (void)flags;
    f32 *const restrict q_a5 = b[5];  // (3,)
    const f32 t1 = out_mean_sum[0];
    const f32 t2 = t1 / 0x1.388p+13f;
    for (i64 at = begin; at < end; at++) {
        const i64 c = 4096 * at;
        const i64 stop = c + 4096 < 10000 ? c + 4096 : 10000;
        f32x16 v_a5[2];
        for (i64 u = 0; u < 2; u++) v_a5[u] = splat_f32x16(-0x0p+0f);
        i64 r_0 = c;
        for (; r_0 + 32 <= stop; r_0 += 32) {
#pragma GCC unroll 8
            for (i64 u = 0; u < 2; u++) {
                const i64 r = r_0 + 16 * u;
                const f32x16 t0 = load_f32x16(x + r);
                const f32x16 t3 = t0 - splat_f32x16(t2);
                const f32x16 t4 = t3 * t3;
                v_a5[u] = v_a5[u] + t4;
            }
        }
#pragma GCC unroll 8
        for (i64 u = 0; u < 2; u++) {
            const i64 r = r_0 + 16 * u;
            const i64 n = stop - r < 16 ? stop - r : 16;
            if (n <= 0) break;
            const f32x16 t0 = loadn_f32x16(x + r, n, 0);
            const f32x16 t3 = t0 - splat_f32x16(t2);
            const f32x16 t4 = t3 * t3;
            v_a5[u] = v_a5[u] + select_f32x16(lanes_i32x16(n), t4, splat_f32x16(-0x0p+0f));
        }
        for (i64 u = 0; u < 1; u++) v_a5[u] = v_a5[u] + v_a5[u + 1];
        q_a5[at] = fold_sum_f32x16(v_a5[0]);
    }
}

static void k1_finish(void *const *b, int *flags) {
    f32 *const restrict out = b[3];  // ()
    (void)flags;
    f32 a5;
    {
        const f32 *const q_a5 = b[5];
        pairs_sum_f32 p_a5;
        p_a5.count = 0;
        for (i64 at = 0; at < 3; at++) {
            push_sum_f32(&p_a5, q_a5[at]);
        }
        a5 = total_sum_f32(&p_a5);
    }
    const f32 t6 = a5 / 0x1.388p+13f;
    out[0] = t6;
}

int stax_launch_0_serial(void *const *b) {
    int flags = 0;
    const u32 env = stax_enter();
    k0(b, 0, 3, &flags);
    k0_finish(b, &flags);
    k1(b, 0, 3, &flags);
    k1_finish(b, &flags);
    stax_leave(env);
    return flags;
}
