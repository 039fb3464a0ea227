// integers, kernels: 1; written by Stax
#define STAX_LEVEL 0
#include "stax_simd.h"
#include "stax_division.h"

/* kernel k0  (out, out_1)  from programs.py:58
     a: i32[40,50]
     b: i32[40,50]
     out: i32[40,50]
     out_1: i32[40,50]
     for i0 in 2000 parallel
       t0: i32 = load a.flat[i0]
       t1: i32 = load b.flat[i0]
       t2: i32 = floor_divide t0, t1
       out.flat[i0] = t2
       t3: i32 = remainder t0, t1
       out_1.flat[i0] = t3
*/
static void k0(void *const *b, i64 begin, i64 end, int *flags) {
    const i32 *const restrict a_ = b[0];  // (40, 50)
    const i32 *const restrict b_ = b[1];  // (40, 50)
    i32 *const restrict out = b[2];  // (40, 50)
    i32 *const restrict out_1 = b[3];  // (40, 50)
    (void)flags;
    for (i64 i0 = begin; i0 < end; i0++) {
        const i32 t0 = a_[i0];
        const i32 t1 = b_[i0];
        const i32 t2 = floor_divide_i32(t0, t1, flags);
        out[i0] = t2;
        const i32 t3 = remainder_i32(t0, t1, flags);
        out_1[i0] = t3;
    }
}

int stax_launch_0_serial(void *const *b) {
    int flags = 0;
    const u32 env = stax_enter();
    k0(b, 0, 2000, &flags);
    stax_leave(env);
    return flags;
}
