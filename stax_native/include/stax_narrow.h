/* stax_narrow.h: 8- and 16-bit integers in the vocabulary of stax_simd.h, which it follows.

In memory they are i8, u8, i16, u16; in registers 32-bit signed lanes that hold the exact value, so
that every operation is one of i32 and wrap_<type> brings its result back to the declared width.
Operations on memory are named load_<type>_<register>: load_u8_i32x16. Not here: bools
(stax_simd.h), float16 (stax_float16.h). */

#define STAX_HAS_NARROW 1

STAX_INLINE i32 wrap_i8(i32 x) { return (i8)x; }
STAX_INLINE i32 wrap_u8(i32 x) { return (u8)x; }
STAX_INLINE i32 wrap_i16(i32 x) { return (i16)x; }
STAX_INLINE i32 wrap_u16(i32 x) { return (u16)x; }

#define STAX_NARROW(M, I, N, WRAPPED)                                                             \
    typedef M M##x##N##_u __attribute__((vector_size(N * sizeof(M)), aligned(sizeof(M)), may_alias)); \
    STAX_INLINE I widen_##M##_##I(M##x##N##_u x) { return __builtin_convertvector(x, I); }        \
    STAX_INLINE M##x##N##_u narrow_##M##_##I(I x) { return __builtin_convertvector(x, M##x##N##_u); } \
    STAX_MEMORY(M, M, I, N, widen_##M##_##I, narrow_##M##_##I)                               \
    STAX_INLINE I wrap_##M##_##I(I x) { return WRAPPED; }
#define STAX_NARROWS(F, I, U, FE, IE, UE, N)                                                      \
    STAX_NARROW(i8, I, N, x << 24 >> 24)                                                          \
    STAX_NARROW(u8, I, N, x & 0xff)                                                               \
    STAX_NARROW(i16, I, N, x << 16 >> 16)                                                         \
    STAX_NARROW(u16, I, N, x & 0xffff)
STAX_EACH_32(STAX_NARROWS)
