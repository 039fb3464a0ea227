// views, kernels: 1; written by Stax
#define STAX_LEVEL 1
#include "stax_simd.h"
#include "stax_bytes.h"

/* kernel k0  (b, out)  from programs.py:39, programs.py:40
     x: f32[2,3,4]
     y: f32[4]
     b: f32[4,5]
     out: f32[4,5]
     for i0 in 4 parallel
       t1: f32 = load y[i0]
       for i1 in 5 parallel
         t0: f32 = load x.flat[4*i1 - i0 + 7]
         t2: f32 = add t0, t1
         b[i0, i1] = t2
         t3: bool = greater t2, 0.0
         t4: f32 = negative t2
         t5: f32 = where t3, t2, t4
         out[i0, i1] = t5
*/
static void k0(void *const *b, i64 begin, i64 end, int *flags) {
    const f32 *const restrict x = b[0];  // (2, 3, 4)
    const f32 *const restrict y = b[1];  // (4)
    f32 *const restrict b_ = b[2];  // (4, 5)
    f32 *const restrict out = b[3];  // (4, 5)
    (void)flags;
    for (i64 i0 = begin; i0 < end; i0++) {
        const f32 t1 = y[i0];
        {
            i64 i1 = 0;
            if (i1 < 5) {
                const i64 n = 5 - i1;  // lanes left
                const f32x8 t0 = gathern_f32x8(x + (4*i1 - i0 + 7), 4, n, 0);
                const f32x8 t2 = t0 + splat_f32x8(t1);
                storen_f32x8(b_ + (5*i0 + i1), t2, n);
                const i32x8 t3 = gt_f32x8(t2, splat_f32x8(0x0p+0f));
                const f32x8 t4 = -t2;
                const f32x8 t5 = select_f32x8(t3, t2, t4);
                storen_f32x8(out + (5*i0 + i1), t5, n);
            }
        }
    }
}

int stax_launch_0_serial(void *const *b) {
    int flags = 0;
    const u32 env = stax_enter();
    k0(b, 0, 4, &flags);
    stax_leave(env);
    return flags;
}
