/* stax_float.h: rounding to whole numbers, parts of floats, and remainders, for float32 and float64.

Follows stax_simd.h, and stax_float16.h where that is included. A float16 uses the operations of
float32 and rounds afterwards; nextafter and spacing have a form of their own. Predicates give masks.
Functions of vectors that go lane by lane take the number of lanes that count. Not here: what the C
library computes (printed into each source). */

#define STAX_HAS_FLOAT 1

f64 stax_libm_fmod(f64, f64) __asm__("fmod");

#define STAX_WHOLE_NUMBERS(E, S)                                                                  \
    STAX_INLINE E floor_##E(E x) { return __builtin_floor##S(x); }                                \
    STAX_INLINE E ceil_##E(E x) { return __builtin_ceil##S(x); }                                  \
    STAX_INLINE E trunc_##E(E x) { return __builtin_trunc##S(x); }                                \
    STAX_INLINE E rint_##E(E x) { return __builtin_rint##S(x); }
STAX_WHOLE_NUMBERS(f32, f)
STAX_WHOLE_NUMBERS(f64, )

/* the immediate: 8 raises no flags, 0 nearest, 1 down, 2 up, 3 towards zero */
#define STAX_ROUND(T, S)                                                                          \
    STAX_INLINE T rint_##T(T x) { return __builtin_ia32_round##S(x, 8); }                         \
    STAX_INLINE T floor_##T(T x) { return __builtin_ia32_round##S(x, 9); }                        \
    STAX_INLINE T ceil_##T(T x) { return __builtin_ia32_round##S(x, 10); }                        \
    STAX_INLINE T trunc_##T(T x) { return __builtin_ia32_round##S(x, 11); }
#define STAX_ROUND_512(T, S)                                                                      \
    STAX_INLINE T rint_##T(T x) { return __builtin_ia32_rndscale##S##_mask(x, 8, x, -1, 4); }     \
    STAX_INLINE T floor_##T(T x) { return __builtin_ia32_rndscale##S##_mask(x, 9, x, -1, 4); }    \
    STAX_INLINE T ceil_##T(T x) { return __builtin_ia32_rndscale##S##_mask(x, 10, x, -1, 4); }    \
    STAX_INLINE T trunc_##T(T x) { return __builtin_ia32_rndscale##S##_mask(x, 11, x, -1, 4); }
#define STAX_ROUND_LANES(F, I, U, FE, IE, UE, N)                                                  \
    STAX_INLINE F floor_##F(F x) { for (int k = 0; k < N; k++) x[k] = floor_##FE(x[k]); return x; } \
    STAX_INLINE F ceil_##F(F x) { for (int k = 0; k < N; k++) x[k] = ceil_##FE(x[k]); return x; } \
    STAX_INLINE F trunc_##F(F x) { for (int k = 0; k < N; k++) x[k] = trunc_##FE(x[k]); return x; } \
    STAX_INLINE F rint_##F(F x) { for (int k = 0; k < N; k++) x[k] = rint_##FE(x[k]); return x; }
#ifdef STAX_PORTABLE
STAX_EACH_32(STAX_ROUND_LANES)
STAX_EACH_64(STAX_ROUND_LANES)
#elif STAX_LEVEL == 2
STAX_ROUND_512(f32x16, ps)
STAX_ROUND(f32x8, ps256)
STAX_ROUND_512(f64x8, pd)
#elif STAX_LEVEL == 1
STAX_ROUND(f32x8, ps256)
STAX_ROUND(f32x4, ps)
STAX_ROUND(f64x4, pd256)
#endif

/* T with its integer type I: scalars and vectors alike; MIN is the pattern of -0.0, INF of infinity */
#define STAX_PARTS(T, I, MIN, INF)                                                                \
    STAX_INLINE I signbit_##T(T x) { return lt_##I(bits_##T(x), splat_##I(0)); }                  \
    STAX_INLINE I isnan_##T(T x) { return ne_##T(x, x); }                                         \
    STAX_INLINE I isinf_##T(T x) { return eq_##I(bits_##T(abs_##T(x)), splat_##I(INF)); }         \
    STAX_INLINE I isfinite_##T(T x) { return lt_##I(bits_##T(abs_##T(x)), splat_##I(INF)); }      \
    STAX_INLINE T copysign_##T(T a, T b) {                                                        \
        return float_##T(bits_##T(abs_##T(a)) | (bits_##T(b) & MIN));                             \
    }                                                                                             \
    STAX_INLINE T sign_##T(T x) {                                                                 \
        const T zero = splat_##T(0), one = splat_##T(1);                                          \
        const I signed_one = bits_##T(copysign_##T(one, x));                                      \
        const T value = float_##T(signed_one & ne_##T(x, zero));                                  \
        return select_##T(isnan_##T(x), x, value);                                                \
    }                                                                                             \
    STAX_INLINE T heaviside_##T(T x, T at_0) {                                                    \
        const T one = splat_##T(1), step = float_##T(bits_##T(one) & gt_##T(x, splat_##T(0)));    \
        const T value = select_##T(eq_##T(x, splat_##T(0)), at_0, step);                          \
        return select_##T(isnan_##T(x), x, value);                                                \
    }                                                                                             \
    STAX_INLINE T fmax_##T(T a, T b) {                                                            \
        return select_##T(isnan_##T(a), b, select_##T(isnan_##T(b), a, maximum_##T(a, b)));       \
    }                                                                                             \
    STAX_INLINE T fmin_##T(T a, T b) {                                                            \
        return select_##T(isnan_##T(a), b, select_##T(isnan_##T(b), a, minimum_##T(a, b)));       \
    }                                                                                             \
    /* patterns count away from zero on both sides of it */                                       \
    STAX_INLINE T nextafter_##T(T a, T b) {                                                       \
        const T zero = splat_##T(0);                                                              \
        const I outwards = eq_##I(lt_##T(a, b), gt_##T(a, zero));                                 \
        const I step = select_##I(outwards, splat_##I(1), splat_##I(-1));                         \
        const I least = (bits_##T(b) & MIN) | 1;                                                  \
        const I next = select_##I(eq_##T(a, zero), least, bits_##T(a) + step);                    \
        const T value = select_##T(eq_##T(a, b), b, float_##T(next));                             \
        return select_##T(isnan_##T(a) | isnan_##T(b), a + b, value);                             \
    }                                                                                             \
    STAX_INLINE T spacing_##T(T x) {                                                              \
        const I is_0 = eq_##T(x, splat_##T(0));                                                   \
        const T next = float_##T(select_##I(is_0, splat_##I(1), bits_##T(x) + 1));                \
        return select_##T(isfinite_##T(x), next - x, x - x);                                      \
    }                                                                                             \
    /* NumPy's: a remainder m of the sign of a, moved by b where the signs differ */              \
    STAX_INLINE T divided_##T(T a, T b, T m, I moved) {                                           \
        const T zero = splat_##T(0), one = splat_##T(1);                                          \
        const T exact = (a - m) / b, div = select_##T(moved, exact - one, exact);                 \
        const T down = floor_##T(div), half = splat_##T(0.5);                                     \
        const T near = select_##T(gt_##T(div - down, half), down + one, down);                    \
        const T value = select_##T(ne_##T(div, zero), near, copysign_##T(zero, a / b));           \
        return select_##T(eq_##T(b, zero), a / b, value);                                         \
    }                                                                                             \
    STAX_INLINE I moved_##T(T b, T m) {                                                           \
        const T zero = splat_##T(0);                                                              \
        return ne_##T(m, zero) & (lt_##T(b, zero) ^ lt_##T(m, zero));                             \
    }                                                                                             \
    STAX_INLINE T modulus_##T(T b, T m, I moved) {                                                \
        const T zero = splat_##T(0);                                                              \
        const T value = select_##T(moved, m + b, m);                                              \
        return select_##T(ne_##T(m, zero), value, copysign_##T(zero, b));                         \
    }
#define STAX_PARTS_32(F, I, U, FE, IE, UE, N) STAX_PARTS(F, I, (i32)0x80000000u, 0x7f800000)
#define STAX_PARTS_64(F, I, U, FE, IE, UE, N)                                                     \
    STAX_PARTS(F, I, (i64)(1ULL << 63), 0x7ff0000000000000LL)
STAX_PARTS_32(f32, i32, , , , , 1)
STAX_PARTS_64(f64, i64, , , , , 1)
STAX_EACH_32(STAX_PARTS_32)
STAX_EACH_64(STAX_PARTS_64)

#define STAX_REMAINDERS(E)                                                                        \
    STAX_INLINE E fmod_##E(E a, E b) { return (E)stax_libm_fmod((f64)a, (f64)b); }                \
    STAX_INLINE E slow_fmod_##E(E a, E b) { return fmod_##E(a, b); }                              \
    STAX_INLINE E remainder_##E(E a, E b) {                                                       \
        const E m = fmod_##E(a, b);                                                               \
        return modulus_##E(b, m, moved_##E(b, m));                                                \
    }                                                                                             \
    STAX_INLINE E floor_divide_##E(E a, E b) {                                                    \
        const E m = fmod_##E(a, b);                                                               \
        return divided_##E(a, b, m, moved_##E(b, m));                                             \
    }
STAX_REMAINDERS(f32)
STAX_REMAINDERS(f64)
/* a - m b with m = a / b rounded and cut: below the limit m is the whole quotient or one more, and
   either way the difference is a float of this type, so fma gives it exactly */
#define STAX_REMAINDER_LANES(F, I, U, FE, IE, UE, N)                                              \
    STAX_LANES_2(slow_fmod, F, FE)                                                                \
    STAX_INLINE F fmod_##F(F a, F b, i64 n) {                                                     \
        const F q = a / b, r = fma_##F(-trunc_##F(q), b, a);                                      \
        const F limit = splat_##F(sizeof(FE) == 4 ? 0x1p21 : 0x1p50);                             \
        const I easy = lt_##F(abs_##F(q), limit) & isfinite_##F(b);                               \
        if (!all_##I(easy | ~lanes_##I(n))) return slow_fmod_##F(a, b, n);                        \
        const I over = ne_##F(r, splat_##F(0)) & (signbit_##F(r) ^ signbit_##F(a));               \
        return copysign_##F(select_##F(over, r + copysign_##F(b, a), r), a);                      \
    }                                                                                             \
    STAX_INLINE F remainder_##F(F a, F b, i64 n) {                                                \
        const F m = fmod_##F(a, b, n);                                                            \
        return modulus_##F(b, m, moved_##F(b, m));                                                \
    }                                                                                             \
    STAX_INLINE F floor_divide_##F(F a, F b, i64 n) {                                             \
        const F m = fmod_##F(a, b, n);                                                            \
        return divided_##F(a, b, m, moved_##F(b, m));                                             \
    }
STAX_EACH_32(STAX_REMAINDER_LANES)
STAX_EACH_64(STAX_REMAINDER_LANES)

/* a * 2^b, rounded once: what leaves the range of float64 has left that of the others too */
f64 stax_libm_ldexp(f64, int) __asm__("ldexp");
STAX_INLINE f64 ldexp_f64(f64 a, i32 b) { return stax_libm_ldexp(a, b); }
STAX_INLINE f32 ldexp_f32(f32 a, i32 b) { return (f32)stax_libm_ldexp((f64)a, b); }
#define STAX_SCALED(F, I, FE)                                                                     \
    STAX_INLINE F ldexp_##F(F a, I b, i64 n) {                                                    \
        for (i64 k = 0; k < n; k++) a[k] = ldexp_##FE(a[k], b[k]);                                \
        return a;                                                                                 \
    }
#define STAX_SCALED_32(F, I, U, FE, IE, UE, N) STAX_SCALED(F, I, FE)
#define STAX_SCALED_64(F, I, U, FE, IE, UE, N) STAX_SCALED(F, i32x##N, FE)
STAX_EACH_32(STAX_SCALED_32)
STAX_EACH_64(STAX_SCALED_64)

#ifdef STAX_HAS_FLOAT16
/* patterns as in nextafter_f32; of two equal values the first. The spacing is NumPy's: never
   negative, half as much below a negative power of two, infinite at the largest. */
#define STAX_PARTS_F16(T, F, I)                                                                   \
    STAX_INLINE F nextafter_##T(F a, F b) {                                                       \
        const F zero = splat_##F(0);                                                              \
        const I h = pattern_##T(a), outwards = eq_##I(lt_##F(a, b), gt_##F(a, zero));             \
        const I step = select_##I(outwards, splat_##I(1), splat_##I(-1));                         \
        const I least = (pattern_##T(b) & 0x8000) + 1;                                            \
        const F next = value_##T(select_##I(eq_##F(a, zero), least, h + step));                   \
        const F value = select_##F(eq_##F(a, b), a, next);                                        \
        return select_##F(isnan_##F(a) | isnan_##F(b), a + b, value);                             \
    }                                                                                             \
    STAX_INLINE F spacing_##T(F x) {                                                              \
        const I bits = bits_##F(x);                                                               \
        const F power = float_##F(bits & 0x7f800000), unit = splat_##F(0x1p-10f);                 \
        const I below = lt_##F(x, splat_##F(0)) & eq_##I(bits & 0x7fffff, splat_##I(0));          \
        const F value = max_##F(power * select_##F(below, splat_##F(0x1p-11f), unit),             \
                                splat_##F(0x1p-24f));                                             \
        const I last = eq_##F(x, splat_##F(65504.0f));                                            \
        const F spaced = select_##F(last, splat_##F(__builtin_inff()), value);                    \
        return select_##F(isfinite_##F(x), spaced, x - x);                                        \
    }
#define STAX_VECTOR_F16(F, I, U, FE, IE, UE, N) STAX_PARTS_F16(f16_##F, F, I)
STAX_PARTS_F16(f16, f32, i32)
STAX_EACH_32(STAX_VECTOR_F16)
#endif
