// integers, kernels: 1; written by Stax
#define STAX_LEVEL 1
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
    {
        i64 i0 = begin;
        for (; i0 + 8 <= end; i0 += 8) {
            const i32x8 t0 = load_i32x8(a_ + i0);
            const i32x8 t1 = load_i32x8(b_ + i0);
            const i32x8 t2 = floor_divide_i32x8(t0, t1, 8, flags);
            store_i32x8(out + i0, t2);
            const i32x8 t3 = remainder_i32x8(t0, t1, 8, flags);
            store_i32x8(out_1 + i0, t3);
        }
        if (i0 < end) {
            const i64 n = end - i0;  // lanes left
            const i32x8 t0 = loadn_i32x8(a_ + i0, n, 1);
            const i32x8 t1 = loadn_i32x8(b_ + i0, n, 1);
            const i32x8 t2 = floor_divide_i32x8(t0, t1, n, flags);
            storen_i32x8(out + i0, t2, n);
            const i32x8 t3 = remainder_i32x8(t0, t1, n, flags);
            storen_i32x8(out_1 + i0, t3, n);
        }
    }
}

int stax_launch_0_serial(void *const *b) {
    int flags = 0;
    const u32 env = stax_enter();
    k0(b, 0, 2000, &flags);
    stax_leave(env);
    return flags;
}
