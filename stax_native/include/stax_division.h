/* stax_division.h: integer floor_divide, remainder (of b's sign) and fmod (of a's sign).

Follows stax_simd.h, and stax_unsigned.h and stax_narrow.h where they are included. By zero they set
bit 1 of *flags and give 0; floor_divide of the smallest by -1 sets bit 2 and gives the smallest.
Only the first n lanes of a vector raise flags. 32-bit lanes divide as float64, 8- and 16-bit values
as float32: with so many spare bits a rounded quotient never reaches the next whole number. Not
here: remainders of floats (stax_float.h). */

STAX_INLINE void stax_raise(int *flags, int bit) { __atomic_fetch_or(flags, bit, __ATOMIC_RELAXED); }

#define STAX_DIVISION(T)                                                                          \
    STAX_INLINE T floor_divide_##T(T a, T b, int *flags) {                                        \
        if (b == 0) { stax_raise(flags, 1); return 0; }                                           \
        if (b == -1 && a && a == -a) stax_raise(flags, 2);                                        \
        if (b == -1) return -a;                                                                   \
        const T q = a / b;                                                                        \
        return q - ((a % b != 0) & ((a ^ b) < 0));                                                \
    }                                                                                             \
    STAX_INLINE T fmod_##T(T a, T b, int *flags) {                                                \
        if (b == 0) { stax_raise(flags, 1); return 0; }                                           \
        return b == -1 ? 0 : a % b;                                                               \
    }                                                                                             \
    STAX_INLINE T remainder_##T(T a, T b, int *flags) {                                           \
        const T r = fmod_##T(a, b, flags);                                                        \
        return r + (((r != 0) & ((r ^ b) < 0)) ? b : 0);                                          \
    }
STAX_DIVISION(i32)
STAX_DIVISION(i64)

#define STAX_DIVISION_LANES(T, E)                                                                 \
    STAX_LANES_FLAGS(floor_divide, T, E)                                                          \
    STAX_LANES_FLAGS(remainder, T, E)                                                             \
    STAX_LANES_FLAGS(fmod, T, E)
#define STAX_DIVISION_64(F, I, U, FE, IE, UE, N) STAX_DIVISION_LANES(I, IE)
STAX_EACH_64(STAX_DIVISION_64)

/* a / b towards zero, b not 0, by way of floats of type E */
#define STAX_QUOTIENT(name, T, E, N)                                                              \
    STAX_INLINE T name(T a, T b) {                                                                \
        typedef E V __attribute__((vector_size(N * sizeof(E))));                                  \
        return __builtin_convertvector(__builtin_convertvector(a, V) / __builtin_convertvector(b, V), T); \
    }

/* divisors that would trap or overflow become 1, of which the quotient is the result asked for */
#define STAX_DIVISION_VECTOR(T, I, N, QUOTIENT, SMALLEST)                                         \
    STAX_INLINE I divisor_##T(I a, I b, i64 n, int *flags, int overflow) {                        \
        const I zero = (I)(b == 0), over = (I)(a == SMALLEST) & (I)(b == -1);                     \
        if (any_##I((zero | over) & lanes_##I(n))) {                                              \
            if (any_##I(zero & lanes_##I(n))) stax_raise(flags, 1);                               \
            if (any_##I(over & lanes_##I(n))) stax_raise(flags, overflow);                        \
        }                                                                                         \
        return select_##I(zero | over, splat_##I(1), b);                                          \
    }                                                                                             \
    STAX_INLINE I floor_divide_##T(I a, I b, i64 n, int *flags) {                                 \
        const I d = divisor_##T(a, b, n, flags, 2), q = QUOTIENT(a, d), r = a - q * d;            \
        return (q + ((I)(r != 0) & (I)((r ^ d) < 0))) & (I)(b != 0);                              \
    }                                                                                             \
    STAX_INLINE I fmod_##T(I a, I b, i64 n, int *flags) {                                         \
        const I d = divisor_##T(a, b, n, flags, 0);                                               \
        return a - QUOTIENT(a, d) * d;                                                            \
    }                                                                                             \
    STAX_INLINE I remainder_##T(I a, I b, i64 n, int *flags) {                                    \
        const I r = fmod_##T(a, b, n, flags);                                                     \
        return r + ((I)(r != 0) & (I)((r ^ b) < 0) & b);                                          \
    }
#define STAX_DIVISION_32(F, I, U, FE, IE, UE, N)                                                  \
    STAX_QUOTIENT(quotient_##I, I, f64, N)                                                        \
    STAX_DIVISION_VECTOR(I, I, N, quotient_##I, (i32)0x80000000u)
STAX_EACH_32(STAX_DIVISION_32)

#ifdef STAX_HAS_NARROW
#define STAX_NARROW_DIVISION(M)                                                                   \
    STAX_INLINE i32 floor_divide_##M(i32 a, i32 b, int *flags) {                                  \
        const i32 q = floor_divide_i32(a, b, flags), r = wrap_##M(q);                             \
        if (q != r) stax_raise(flags, 2);                                                         \
        return r;                                                                                 \
    }                                                                                             \
    STAX_INLINE i32 remainder_##M(i32 a, i32 b, int *flags) { return remainder_i32(a, b, flags); } \
    STAX_INLINE i32 fmod_##M(i32 a, i32 b, int *flags) { return fmod_i32(a, b, flags); }
STAX_NARROW_DIVISION(i8)
STAX_NARROW_DIVISION(u8)
STAX_NARROW_DIVISION(i16)
STAX_NARROW_DIVISION(u16)
#define STAX_NARROW_DIVISIONS(F, I, U, FE, IE, UE, N)                                             \
    STAX_QUOTIENT(narrow_quotient_##I, I, f32, N)                                                 \
    STAX_DIVISION_VECTOR(i8_##I, I, N, narrow_quotient_##I, -128)                                 \
    STAX_DIVISION_VECTOR(i16_##I, I, N, narrow_quotient_##I, -32768)                              \
    STAX_DIVISION_VECTOR(u8_##I, I, N, narrow_quotient_##I, -1)                                   \
    STAX_DIVISION_VECTOR(u16_##I, I, N, narrow_quotient_##I, -1)
STAX_EACH_32(STAX_NARROW_DIVISIONS)
#endif

#ifdef STAX_HAS_UNSIGNED
#define STAX_UNSIGNED_DIVISION(U)                                                                 \
    STAX_INLINE U floor_divide_##U(U a, U b, int *flags) {                                        \
        if (b == 0) { stax_raise(flags, 1); return 0; }                                           \
        return a / b;                                                                             \
    }                                                                                             \
    STAX_INLINE U remainder_##U(U a, U b, int *flags) {                                           \
        if (b == 0) { stax_raise(flags, 1); return 0; }                                           \
        return a % b;                                                                             \
    }                                                                                             \
    STAX_INLINE U fmod_##U(U a, U b, int *flags) { return remainder_##U(a, b, flags); }
STAX_UNSIGNED_DIVISION(u32)
STAX_UNSIGNED_DIVISION(u64)
#define STAX_UNSIGNED_DIVISION_32(F, I, U, FE, IE, UE, N)                                         \
    STAX_QUOTIENT(quotient_##U, U, f64, N)                                                        \
    STAX_INLINE U divisor_##U(U b, i64 n, int *flags) {                                           \
        const I zero = (I)(b == 0);                                                               \
        if (any_##I(zero & lanes_##I(n))) stax_raise(flags, 1);                                   \
        return b + (U)(zero & 1);                                                                 \
    }                                                                                             \
    STAX_INLINE U floor_divide_##U(U a, U b, i64 n, int *flags) {                                 \
        return quotient_##U(a, divisor_##U(b, n, flags)) & (U)(b != 0);                           \
    }                                                                                             \
    STAX_INLINE U remainder_##U(U a, U b, i64 n, int *flags) {                                    \
        const U d = divisor_##U(b, n, flags);                                                     \
        return a - quotient_##U(a, d) * d;                                                        \
    }                                                                                             \
    STAX_INLINE U fmod_##U(U a, U b, i64 n, int *flags) { return remainder_##U(a, b, n, flags); }
#define STAX_UNSIGNED_DIVISION_64(F, I, U, FE, IE, UE, N) STAX_DIVISION_LANES(U, UE)
STAX_EACH_32(STAX_UNSIGNED_DIVISION_32)
STAX_EACH_64(STAX_UNSIGNED_DIVISION_64)
#endif
