/* stax_bytes.h: bytes in memory as 32-bit lanes, and bool arrays, in the vocabulary of stax_simd.h.

Follows stax_simd.h. Bytes widen without sign and narrow to their low 8 bits; a bool array is bytes
in memory and masks of 32-bit lanes in registers. gcc converts bytes lane by lane where it is not
told the instruction. Not here: signed bytes (stax_narrow.h). */

#define STAX_BYTES(F, I, U, FE, IE, UE, N)                                                        \
    typedef u8 bytesx##N __attribute__((vector_size(N), aligned(1), may_alias));
STAX_EACH_32(STAX_BYTES)
#define STAX_WIDEN_BYTES(I, N)                                                                    \
    STAX_INLINE I widen_bytes_##I(bytesx##N x) { return __builtin_convertvector(x, I); }
#define STAX_NARROW_BYTES(I, N)                                                                   \
    STAX_INLINE bytesx##N narrow_bytes_##I(I x) { return __builtin_convertvector(x, bytesx##N); }

#if defined(STAX_PORTABLE) || STAX_LEVEL == 0
#define STAX_CONVERT_BYTES(F, I, U, FE, IE, UE, N) STAX_WIDEN_BYTES(I, N) STAX_NARROW_BYTES(I, N)
STAX_EACH_32(STAX_CONVERT_BYTES)
#else
typedef char stax_i8x16 __attribute__((vector_size(16)));
typedef i64 stax_word __attribute__((vector_size(16)));
STAX_INLINE i32x8 widen_bytes_i32x8(bytesx8 x) {
    i64 word;
    __builtin_memcpy(&word, &x, 8);
    return __builtin_ia32_pmovzxbd256((stax_i8x16)(stax_word){word, 0});
}
#if STAX_LEVEL == 2
STAX_INLINE i32x16 widen_bytes_i32x16(bytesx16 x) {
    return __builtin_ia32_pmovzxbd512_mask((stax_i8x16)x, (i32x16){0}, -1);
}
STAX_NARROW_BYTES(i32x16, 16)
STAX_NARROW_BYTES(i32x8, 8)
#else
typedef char stax_i8x32 __attribute__((vector_size(32)));
STAX_INLINE i32x4 widen_bytes_i32x4(bytesx4 x) {
    i32 word;
    __builtin_memcpy(&word, &x, 4);
    return __builtin_ia32_pmovzxbd128((stax_i8x16)(i32x4){word, 0, 0, 0});
}
/* the low byte of each lane, in front; 8 lanes are two halves that a shuffle does not cross */
STAX_INLINE bytesx4 narrow_bytes_i32x4(i32x4 x) {
    const stax_i8x16 low = {0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    const i32 word = ((i32x4)__builtin_ia32_pshufb128((stax_i8x16)x, low))[0];
    bytesx4 r;
    __builtin_memcpy(&r, &word, 4);
    return r;
}
STAX_INLINE bytesx8 narrow_bytes_i32x8(i32x8 x) {
    const stax_i8x32 low = {0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                            0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    const i32x8 halves = (i32x8)__builtin_ia32_pshufb256((stax_i8x32)x, low);
    const i32 words[2] = {halves[0], halves[4]};
    bytesx8 r;
    __builtin_memcpy(&r, words, 8);
    return r;
}
#endif
#endif

STAX_INLINE i32 load_bool(const u8 *p) { return -(i32)(*p != 0); }
STAX_INLINE void store_bool(u8 *p, i32 m) { *p = (u8)(m & 1); }
#define STAX_BOOLEANS(F, I, U, FE, IE, UE, N)                                                     \
    typedef bytesx##N boolx##N##_u;                                                               \
    STAX_INLINE I widen_bool_##I(bytesx##N x) { return (I)(widen_bytes_##I(x) != 0); }            \
    STAX_INLINE bytesx##N narrow_bool_##I(I m) { return narrow_bytes_##I(m & 1); }                \
    STAX_MEMORY(bool, u8, I, N, widen_bool_##I, narrow_bool_##I)
STAX_EACH_32(STAX_BOOLEANS)
