/* stax_float16.h: float16 in the vocabulary of stax_simd.h, which it follows.

In memory the 16 bits are a u16; in registers a value is a float32. round_f16 takes the result of
every operation back to float16, to nearest even, so that +, -, *, / and sqrt round once in effect.
Uses the conversions of F16C where the compiler has them (__F16C__), otherwise arithmetic with the
same bits. Not here: the operations themselves. */

#define STAX_HAS_FLOAT16 1

/* Between two float16 lie 2^13 patterns of float32; below 2^-14 float16 counts units of 2^-24, to
   which adding 1/2 rounds. Patterns of float16 are kept in lanes of I. */
#define STAX_FLOAT16_ARITHMETIC(F, I)                                                             \
    STAX_INLINE F rounded_f16_##F(F x) {                                                          \
        const I bits = bits_##F(x), magnitude = bits & 0x7fffffff;                                \
        const F half = splat_##F(0.5f);                                                           \
        const I small = bits_##F((float_##F(magnitude) + half) - half);                           \
        const I normal = (magnitude + 0xfff + (srl_##I(magnitude, 13) & 1)) & ~0x1fff;            \
        const I large = gt_##I(normal, splat_##I(0x477fe000));                                    \
        const I finite = select_##I(large, splat_##I(0x7f800000), normal);                        \
        const I tiny = lt_##I(magnitude, splat_##I(0x38800000));                                  \
        const I nan = gt_##I(magnitude, splat_##I(0x7f800000));                                   \
        const I rounded = select_##I(tiny, small, finite) | (bits ^ magnitude);                   \
        return float_##F(select_##I(nan, bits, rounded));                                         \
    }                                                                                             \
    STAX_INLINE F from_f16_##F(I h) {                                                             \
        const I magnitude = h & 0x7fff;                                                           \
        const I scaled = bits_##F(float_##F(magnitude << 13) * splat_##F(0x1p112f));              \
        const I special = ge_##I(magnitude, splat_##I(0x7c00)) & 0x7f800000;                      \
        return float_##F(scaled | special | ((h & 0x8000) << 16));                                \
    }                                                                                             \
    STAX_INLINE I to_f16_##F(F x) {                                                               \
        const I bits = bits_##F(x), magnitude = bits & 0x7fffffff;                                \
        const I scaled = srl_##I(bits_##F(float_##F(magnitude) * splat_##F(0x1p-112f)), 13);      \
        const I nan = gt_##I(magnitude, splat_##I(0x7f800000)) & 0x200;                           \
        const I special = ge_##I(magnitude, splat_##I(0x7f800000));                               \
        return select_##I(special, nan | 0x7c00, scaled) | (srl_##I(bits, 16) & 0x8000);          \
    }
#define STAX_FLOAT16_ARITHMETICS(F, I, U, FE, IE, UE, N) STAX_FLOAT16_ARITHMETIC(F, I)

/* float64 to float32, rounded to odd: a second rounding to float16 then sees which side it was on */
#define STAX_ODD(S, IS, D, ID)                                                                    \
    STAX_INLINE S odd_##S##_##D(D x) {                                                            \
        const S near = cast_##S##_##D(x);                                                         \
        const D back = cast_##D##_##S(near);                                                      \
        const IS outside = cast_##IS##_##ID(gt_##D(abs_##D(back), abs_##D(x)));                   \
        const IS inexact = cast_##IS##_##ID(ne_##D(back, x)) & 1;                                 \
        return float_##S((bits_##S(near) + outside) | inexact);                                   \
    }
#define STAX_ODDS(N) STAX_ODD(f32x##N, i32x##N, f64x##N, i64x##N)
STAX_ODD(f32, i32, f64, i64)
STAX_EACH_PAIR(STAX_ODDS)

#define STAX_FLOAT16(F, I, U, FE, IE, UE, N)                                                      \
    STAX_MEMORY(f16, u16, F, N, widen_f16_##F, narrow_f16_##F)                                    \
    STAX_INLINE F round_f16_##F(F x) { return STAX_ROUND_F16(F, x); }                             \
    STAX_INLINE I pattern_f16_##F(F x) { return __builtin_convertvector(narrow_f16_##F(x), I); }  \
    STAX_INLINE F value_f16_##F(I h) {                                                            \
        return widen_f16_##F(__builtin_convertvector(h, f16x##N##_u));                            \
    }

typedef u16 f16x4_u __attribute__((vector_size(8), aligned(2), may_alias));
typedef u16 f16x8_u __attribute__((vector_size(16), aligned(2), may_alias));
typedef u16 f16x16_u __attribute__((vector_size(32), aligned(2), may_alias));

#if defined(__F16C__) && !defined(STAX_PORTABLE)
typedef short i16x8 __attribute__((vector_size(16)));
typedef short i16x16 __attribute__((vector_size(32)));
typedef float f32x4_f16 __attribute__((vector_size(16)));
STAX_INLINE f32 load_f16(const u16 *p) {
    return __builtin_ia32_vcvtph2ps((i16x8){(short)*p})[0];
}
STAX_INLINE void store_f16(u16 *p, f32 x) {
    *p = (u16)__builtin_ia32_vcvtps2ph((f32x4_f16){x}, 0)[0];
}
STAX_INLINE f32 round_f16(f32 x) {
    return __builtin_ia32_vcvtph2ps(__builtin_ia32_vcvtps2ph((f32x4_f16){x}, 0))[0];
}
#define STAX_ROUND_F16(F, x) widen_f16_##F(narrow_f16_##F(x))
#if STAX_LEVEL == 1
STAX_INLINE f32x4 widen_f16_f32x4(f16x4_u h) {
    return __builtin_ia32_vcvtph2ps((i16x8)(f16x8_u){h[0], h[1], h[2], h[3]});
}
STAX_INLINE f16x4_u narrow_f16_f32x4(f32x4 x) {
    const i16x8 h = __builtin_ia32_vcvtps2ph(x, 0);
    return *(const f16x4_u *)&h;
}
#endif
STAX_INLINE f32x8 widen_f16_f32x8(f16x8_u h) { return __builtin_ia32_vcvtph2ps256((i16x8)h); }
STAX_INLINE f16x8_u narrow_f16_f32x8(f32x8 x) { return (f16x8_u)__builtin_ia32_vcvtps2ph256(x, 0); }
#if STAX_LEVEL == 2
STAX_INLINE f32x16 widen_f16_f32x16(f16x16_u h) {
    return __builtin_ia32_vcvtph2ps512_mask((i16x16)h, (f32x16){0}, -1, 4);
}
STAX_INLINE f16x16_u narrow_f16_f32x16(f32x16 x) {
    return (f16x16_u)__builtin_ia32_vcvtps2ph512_mask(x, 0, (i16x16){0}, -1);
}
#endif
#else
STAX_FLOAT16_ARITHMETIC(f32, i32)
STAX_EACH_32(STAX_FLOAT16_ARITHMETICS)
STAX_INLINE f32 load_f16(const u16 *p) { return from_f16_f32(*p); }
STAX_INLINE void store_f16(u16 *p, f32 x) { *p = (u16)to_f16_f32(x); }
STAX_INLINE f32 round_f16(f32 x) { return rounded_f16_f32(x); }
#define STAX_ROUND_F16(F, x) rounded_f16_##F(x)
#define STAX_WIDEN_F16(F, I, U, FE, IE, UE, N)                                                    \
    STAX_INLINE F widen_f16_##F(f16x##N##_u h) { return from_f16_##F(__builtin_convertvector(h, I)); } \
    STAX_INLINE f16x##N##_u narrow_f16_##F(F x) {                                                 \
        return __builtin_convertvector(to_f16_##F(x), f16x##N##_u);                               \
    }
STAX_EACH_32(STAX_WIDEN_F16)
#endif
STAX_EACH_32(STAX_FLOAT16)
STAX_INLINE i32 pattern_f16(f32 x) { u16 h; store_f16(&h, x); return h; }
STAX_INLINE f32 value_f16(i32 h) { const u16 bits = (u16)h; return load_f16(&bits); }
