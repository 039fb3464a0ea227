/* stax_narrow.h: 8- and 16-bit integers in the vocabulary of stax_simd.h.

Follows stax_simd.h and stax_bytes.h. In memory they are i8, u8, i16, u16; in registers 32-bit
signed lanes that hold the exact value, so that every operation is one of i32 and wrap_<type> brings
its result back to the declared width. Operations on memory are named load_<type>_<register>:
load_u8_i32x16. Not here: bools (stax_bytes.h), float16 (stax_float16.h). */

#define STAX_HAS_NARROW 1

STAX_INLINE i32 wrap_i8(i32 x) { return (i8)x; }
STAX_INLINE i32 wrap_u8(i32 x) { return (u8)x; }
STAX_INLINE i32 wrap_i16(i32 x) { return (i16)x; }
STAX_INLINE i32 wrap_u16(i32 x) { return (u16)x; }

#define STAX_NARROW(M, I, N, WRAPPED, LOAD, STORE)                                                \
    STAX_MEMORY(M, M, I, N, LOAD, STORE)                                                          \
    STAX_INLINE I wrap_##M##_##I(I x) { return WRAPPED; }
#define STAX_SHORT(M, I, N, WRAPPED)                                                              \
    typedef M M##x##N##_u __attribute__((vector_size(N * 2), aligned(2), may_alias));             \
    STAX_INLINE I widen_##M##_##I(M##x##N##_u x) { return __builtin_convertvector(x, I); }        \
    STAX_INLINE M##x##N##_u narrow_##M##_##I(I x) { return __builtin_convertvector(x, M##x##N##_u); } \
    STAX_NARROW(M, I, N, WRAPPED, widen_##M##_##I, narrow_##M##_##I)
#define STAX_NARROWS(F, I, U, FE, IE, UE, N)                                                      \
    typedef bytesx##N i8x##N##_u;                                                                 \
    typedef bytesx##N u8x##N##_u;                                                                 \
    STAX_INLINE I widen_i8_##I(i8x##N##_u x) { return widen_bytes_##I(x) << 24 >> 24; }           \
    STAX_NARROW(i8, I, N, x << 24 >> 24, widen_i8_##I, narrow_bytes_##I)                          \
    STAX_NARROW(u8, I, N, x & 0xff, widen_bytes_##I, narrow_bytes_##I)                            \
    STAX_SHORT(i16, I, N, x << 16 >> 16)                                                          \
    STAX_SHORT(u16, I, N, x & 0xffff)
STAX_EACH_32(STAX_NARROWS)
