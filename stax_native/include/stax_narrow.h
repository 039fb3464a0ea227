/* stax_narrow.h: 8- and 16-bit integers in the vocabulary of stax_simd.h, which it follows.

In memory they are i8, u8, i16, u16; in registers 32-bit signed lanes that hold the exact value, so
that every operation is one of i32 and wrap_<type> brings its result back to the declared width.
Operations on memory are named load_<type>_<register>: load_u8_i32x16. Not here: bools
(stax_simd.h), float16 (stax_float16.h). */

STAX_INLINE i32 wrap_i8(i32 x) { return (i8)x; }
STAX_INLINE i32 wrap_u8(i32 x) { return (u8)x; }
STAX_INLINE i32 wrap_i16(i32 x) { return (i16)x; }
STAX_INLINE i32 wrap_u16(i32 x) { return (u16)x; }

/* the smallest over -1: one more than the largest, which wraps */
#define STAX_NARROW_DIVISION(M)                                                                   \
    STAX_INLINE i32 floor_divide_##M(i32 a, i32 b, int *flags) {                                  \
        const i32 q = floor_divide_i32(a, b, flags), r = wrap_##M(q);                             \
        if (q != r) __atomic_fetch_or(flags, 2, __ATOMIC_RELAXED);                                \
        return r;                                                                                 \
    }
STAX_NARROW_DIVISION(i8)
STAX_NARROW_DIVISION(u8)
STAX_NARROW_DIVISION(i16)
STAX_NARROW_DIVISION(u16)

#define STAX_NARROW(M, I, N, WRAPPED)                                                             \
    typedef M M##x##N##_u __attribute__((vector_size(N * sizeof(M)), aligned(sizeof(M)), may_alias)); \
    STAX_INLINE I widen_##M##_##I(M##x##N##_u x) { return __builtin_convertvector(x, I); }        \
    STAX_INLINE M##x##N##_u narrow_##M##_##I(I x) { return __builtin_convertvector(x, M##x##N##_u); } \
    STAX_MEMORY(M, M, I, N, widen_##M##_##I, narrow_##M##_##I)                               \
    STAX_INLINE I wrap_##M##_##I(I x) { return WRAPPED; }                                         \
    STAX_INLINE I floor_divide_##M##_##I(I a, I b, i64 n, int *flags) {                           \
        for (i64 k = 0; k < n; k++) a[k] = floor_divide_##M(a[k], b[k], flags);                   \
        return a;                                                                                 \
    }
#define STAX_NARROWS(F, I, U, FE, IE, UE, N)                                                      \
    STAX_NARROW(i8, I, N, x << 24 >> 24)                                                          \
    STAX_NARROW(u8, I, N, x & 0xff)                                                               \
    STAX_NARROW(i16, I, N, x << 16 >> 16)                                                         \
    STAX_NARROW(u16, I, N, x & 0xffff)
STAX_EACH_32(STAX_NARROWS)
