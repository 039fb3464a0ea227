/* stax_unsigned.h: uint32 and uint64 in the vocabulary of stax_simd.h, which it follows.

Gives the types u32, u64 and their vectors: loads, stores, comparisons, extremes, conversions. A
comparison gives a signed mask, as for every type. Not here: division (stax_division.h), bit
operations (stax_integer.h). */

#define STAX_HAS_UNSIGNED 1

#define STAX_UNSIGNED_SCALAR(U, I)                                                                \
    STAX_SCALAR(U, I)                                                                             \
    STAX_INLINE U maximum_##U(U a, U b) { return a > b ? a : b; }                                 \
    STAX_INLINE U minimum_##U(U a, U b) { return a < b ? a : b; }                                 \
    STAX_INLINE U absolute_##U(U a) { return a; }

STAX_UNSIGNED_SCALAR(u32, i32)
STAX_UNSIGNED_SCALAR(u64, i64)

#define STAX_UNSIGNED(F, I, U, FE, IE, UE, N)                                                     \
    STAX_COMMON(U, I, UE, N)                                                                      \
    STAX_INLINE U loadn_##U(const UE *p, i64 n, UE fill) {                                        \
        return (U)loadn_##I((const IE *)p, n, (IE)fill);                                          \
    }                                                                                             \
    STAX_INLINE void storen_##U(UE *p, U v, i64 n) { storen_##I((IE *)p, (I)v, n); }              \
    STAX_INLINE U maximum_##U(U a, U b) { return select_##U(gt_##U(a, b), a, b); }                \
    STAX_INLINE U minimum_##U(U a, U b) { return select_##U(lt_##U(a, b), a, b); }                \
    STAX_INLINE U absolute_##U(U a) { return a; }
STAX_EACH_32(STAX_UNSIGNED)
STAX_EACH_64(STAX_UNSIGNED)

/* conversions: integers wrap; floats in [2^63, 2^64) fit a uint64 exactly, others go by way of
   int64 */
STAX_CAST(u32, i32)
STAX_CAST(u32, i64)
STAX_CAST(u32, u64)
STAX_CAST(u64, i32)
STAX_CAST(u64, i64)
STAX_CAST(u64, u32)
STAX_CAST(i32, u32)
STAX_CAST(i32, u64)
STAX_CAST(i64, u32)
STAX_CAST(i64, u64)
STAX_CAST(f32, u32)
STAX_CAST(f32, u64)
STAX_CAST(f64, u32)
STAX_CAST(f64, u64)
STAX_INLINE u32 cast_u32_f32(f32 x) { return (u32)low_i32_f32(x); }
STAX_INLINE u32 cast_u32_f64(f64 x) { return (u32)low_i32_f64(x); }

#define STAX_TO_UNSIGNED(U, F, I)                                                                 \
    STAX_INLINE U cast_##U##_##F(F x) {                                                           \
        const F half = splat_##F(0x1p63f);                                                        \
        const I in = ge_##F(x, half) & lt_##F(x, splat_##F(0x1p64f));                             \
        const I low = cast_##I##_##F(select_##F(in, x - half, x));                                \
        return (U)low + ((U)in << 63);                                                            \
    }
STAX_TO_UNSIGNED(u64, f64, i64)
STAX_INLINE u64 cast_u64_f32(f32 x) { return cast_u64_f64(x); }

#define STAX_UNSIGNED_32(F, I, U, FE, IE, UE, N)                                                  \
    STAX_INLINE U cast_##U##_##I(I x) { return (U)x; }                                            \
    STAX_INLINE I cast_##I##_##U(U x) { return (I)x; }                                            \
    STAX_INLINE U cast_##U##_##F(F x) { return (U)low_##I##_##F(x); }                             \
    STAX_CONVERT(F, U)
STAX_EACH_32(STAX_UNSIGNED_32)

#define STAX_UNSIGNED_64(F, I, U, FE, IE, UE, N)                                                  \
    STAX_INLINE U cast_##U##_##I(I x) { return (U)x; }                                            \
    STAX_INLINE I cast_##I##_##U(U x) { return (I)x; }                                            \
    STAX_TO_UNSIGNED(U, F, I)                                                                     \
    STAX_CONVERT(F, U)
STAX_EACH_64(STAX_UNSIGNED_64)

#define STAX_UNSIGNED_PAIR(N)                                                                     \
    STAX_CONVERT(u32x##N, i64x##N)                                                                \
    STAX_CONVERT(u32x##N, u64x##N)                                                                \
    STAX_CONVERT(i32x##N, u64x##N)                                                                \
    STAX_CONVERT(u64x##N, i32x##N)                                                                \
    STAX_CONVERT(u64x##N, u32x##N)                                                                \
    STAX_CONVERT(i64x##N, u32x##N)                                                                \
    STAX_CONVERT(f64x##N, u32x##N)                                                                \
    STAX_CONVERT(f32x##N, u64x##N)                                                                \
    STAX_INLINE u32x##N cast_u32x##N##_f64x##N(f64x##N x) {                                       \
        return (u32x##N)low_i32x##N##_f64x##N(x);                                                 \
    }                                                                                             \
    STAX_INLINE u64x##N cast_u64x##N##_f32x##N(f32x##N x) {                                       \
        return cast_u64x##N##_f64x##N(cast_f64x##N##_f32x##N(x));                                 \
    }
STAX_EACH_PAIR(STAX_UNSIGNED_PAIR)
