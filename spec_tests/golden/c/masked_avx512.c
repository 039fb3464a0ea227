// masked, kernels: 1; written by Stax
#define STAX_LEVEL 2
#include "stax_simd.h"
#include "stax_bytes.h"

/* kernel k0  (out)  from programs.py:70
     x: f32[30,33]
     keep: bool[33]
     out: f32[30,33]
     for i0 in 30 parallel
       for i1 in 33 parallel
         t0: bool = load keep[i1]
         t1: f32 = load x[i0, i1]
         t2: bool = greater t1, 0.0
         t3: bool = logical_and t0, t2
         t4: f32 = where t3, t1, 0.0
         out[i0, i1] = t4
*/
static void k0(void *const *b, i64 begin, i64 end, int *flags) {
    const f32 *const restrict x = b[0];  // (30, 33)
    const u8 *const restrict keep = b[1];  // (33)
    f32 *const restrict out = b[2];  // (30, 33)
    (void)flags;
    for (i64 i0 = begin; i0 < end; i0++) {
        {
            i64 i1 = 0;
            for (; i1 + 16 <= 33; i1 += 16) {
                const i32x16 t0 = load_bool_i32x16(keep + i1);
                const f32x16 t1 = load_f32x16(x + (33*i0 + i1));
                const i32x16 t2 = gt_f32x16(t1, splat_f32x16(0x0p+0f));
                const i32x16 t3 = t0 & t2;
                const f32x16 t4 = select_f32x16(t3, t1, splat_f32x16(0x0p+0f));
                store_f32x16(out + (33*i0 + i1), t4);
            }
            if (i1 < 33) {
                const i64 n = 33 - i1;  // lanes left
                const i32x16 t0 = loadn_bool_i32x16(keep + i1, n, 0);
                const f32x16 t1 = loadn_f32x16(x + (33*i0 + i1), n, 0);
                const i32x16 t2 = gt_f32x16(t1, splat_f32x16(0x0p+0f));
                const i32x16 t3 = t0 & t2;
                const f32x16 t4 = select_f32x16(t3, t1, splat_f32x16(0x0p+0f));
                storen_f32x16(out + (33*i0 + i1), t4, n);
            }
        }
    }
}

int stax_launch_0_serial(void *const *b) {
    int flags = 0;
    const u32 env = stax_enter();
    k0(b, 0, 30, &flags);
    stax_leave(env);
    return flags;
}
