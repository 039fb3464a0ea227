/* stax_integer.h: shifts, bits, divisors and powers of integers, in the vocabulary of stax_simd.h.

Follows stax_simd.h, and stax_unsigned.h where that is included: then the unsigned types have these
operations too. 8- and 16-bit integers use those of i32 and wrap afterwards: their shift counts at or
beyond the width leave nothing, or the sign, by themselves. Functions of vectors that go lane by
lane take the number of lanes that count. Not here: division (stax_division.h). */

/* a shift by what is not a bit of the type gives 0, or the sign */
#define STAX_SHIFTS(T, I, W)                                                                      \
    STAX_INLINE T left_shift_##T(T a, T b) {                                                      \
        const I in = eq_##T(b & (W - 1), b);                                                      \
        return (T)((I)(a << (b & (W - 1))) & in);                                                 \
    }
#define STAX_SIGNED_SHIFT(T, W)                                                                   \
    STAX_INLINE T right_shift_##T(T a, T b) {                                                     \
        return a >> select_##T(eq_##T(b & (W - 1), b), b, splat_##T(W - 1));                      \
    }
#define STAX_UNSIGNED_SHIFT(T, I, W)                                                              \
    STAX_INLINE T right_shift_##T(T a, T b) {                                                     \
        return (T)((I)(a >> (b & (W - 1))) & eq_##T(b & (W - 1), b));                             \
    }

/* sums of neighbouring bits, pairs, nibbles; a product adds the bytes */
#define STAX_BIT_COUNT_32(name, U)                                                                \
    STAX_INLINE U name(U x) {                                                                     \
        x = x - ((x >> 1) & 0x55555555u);                                                         \
        x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);                                         \
        x = (x + (x >> 4)) & 0x0f0f0f0fu;                                                         \
        return x * 0x01010101u >> 24;                                                             \
    }
#define STAX_BIT_COUNT_64(name, U)                                                                \
    STAX_INLINE U name(U x) {                                                                     \
        x = x - ((x >> 1) & 0x5555555555555555ULL);                                               \
        x = (x & 0x3333333333333333ULL) + ((x >> 2) & 0x3333333333333333ULL);                     \
        x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fULL;                                               \
        return x * 0x0101010101010101ULL >> 56;                                                   \
    }

/* a scalar type E with its unsigned type U; MAGNITUDE is |a| as unsigned, NEGATIVE asks for b < 0 */
#define STAX_WHOLE(E, U, MAGNITUDE, NEGATIVE)                                                     \
    STAX_INLINE E gcd_##E(E a, E b) {                                                             \
        U x = MAGNITUDE(U, a), y = MAGNITUDE(U, b);                                               \
        while (x) { const U r = y % x; y = x; x = r; }                                            \
        return (E)y;                                                                              \
    }                                                                                             \
    STAX_INLINE E lcm_##E(E a, E b) {                                                             \
        const U divisor = (U)gcd_##E(a, b);                                                       \
        return divisor ? (E)(MAGNITUDE(U, a) / divisor * MAGNITUDE(U, b)) : 0;                    \
    }                                                                                             \
    STAX_INLINE E power_##E(E a, E b, int *flags) {                                               \
        U base = (U)a, rest = (U)b, product = 1;                                                  \
        if (NEGATIVE(b)) { __atomic_fetch_or(flags, 8, __ATOMIC_RELAXED); return 0; }             \
        for (; rest; rest >>= 1, base *= base) if (rest & 1) product *= base;                     \
        return (E)product;                                                                        \
    }
#define STAX_MAGNITUDE(U, a) ((a) < 0 ? -(U)(a) : (U)(a))
#define STAX_ITSELF(U, a) (a)
#define STAX_BELOW_0(b) ((b) < 0)
#define STAX_NEVER(b) 0

#define STAX_SIGNED_SCALAR(E, U, W)                                                               \
    STAX_WHOLE(E, U, STAX_MAGNITUDE, STAX_BELOW_0)                                                \
    STAX_SHIFTS(E, E, W)                                                                          \
    STAX_SIGNED_SHIFT(E, W)                                                                       \
    STAX_INLINE E sign_##E(E a) { return (a > 0) - (a < 0); }                                     \
    STAX_INLINE i32 bitwise_count_##E(E a) { return (i32)ones_##E(STAX_MAGNITUDE(U, a)); }
STAX_BIT_COUNT_32(ones_i32, u32)
STAX_BIT_COUNT_64(ones_i64, u64)
STAX_SIGNED_SCALAR(i32, u32, 32)
STAX_SIGNED_SCALAR(i64, u64, 64)

#define STAX_WHOLE_LANES(T, E)                                                                    \
    STAX_LANES_2(gcd, T, E)                                                                       \
    STAX_LANES_2(lcm, T, E)                                                                       \
    STAX_LANES_FLAGS(power, T, E)
#define STAX_SIGNED_VECTOR(I, U, IE, N, W)                                                        \
    STAX_WHOLE_LANES(I, IE)                                                                       \
    STAX_SHIFTS(I, I, W)                                                                          \
    STAX_SIGNED_SHIFT(I, W)                                                                       \
    STAX_INLINE I sign_##I(I a) { return (I)(a < 0) - (I)(a > 0); }                               \
    STAX_BIT_COUNT_##W(ones_##U, U)                                                               \
    STAX_INLINE i32x##N bitwise_count_##I(I a) {                                                  \
        return STAX_COUNT_##W(N, ones_##U((U)absolute_##I(a)));                                   \
    }
#define STAX_COUNT_32(N, x) ((i32x##N)(x))
#define STAX_COUNT_64(N, x) __builtin_convertvector(x, i32x##N)
#define STAX_SIGNED_32(F, I, U, FE, IE, UE, N) STAX_SIGNED_VECTOR(I, U, IE, N, 32)
#define STAX_SIGNED_64(F, I, U, FE, IE, UE, N) STAX_SIGNED_VECTOR(I, U, IE, N, 64)
STAX_EACH_32(STAX_SIGNED_32)
STAX_EACH_64(STAX_SIGNED_64)

#ifdef STAX_HAS_UNSIGNED
#define STAX_UNSIGNED_WHOLE(E, I, W)                                                              \
    STAX_WHOLE(E, E, STAX_ITSELF, STAX_NEVER)                                                     \
    STAX_SHIFTS(E, I, W)                                                                          \
    STAX_UNSIGNED_SHIFT(E, I, W)                                                                  \
    STAX_INLINE E sign_##E(E a) { return a != 0; }                                                \
    STAX_INLINE i32 bitwise_count_##E(E a) { return (i32)ones_##I(a); }
STAX_UNSIGNED_WHOLE(u32, i32, 32)
STAX_UNSIGNED_WHOLE(u64, i64, 64)
#define STAX_UNSIGNED_VECTOR(I, U, UE, N, W)                                                      \
    STAX_WHOLE_LANES(U, UE)                                                                       \
    STAX_SHIFTS(U, I, W)                                                                          \
    STAX_UNSIGNED_SHIFT(U, I, W)                                                                  \
    STAX_INLINE U sign_##U(U a) { return (U)((I)(a != 0) & 1); }                                  \
    STAX_INLINE i32x##N bitwise_count_##U(U a) { return STAX_COUNT_##W(N, ones_##U(a)); }
#define STAX_UNSIGNED_VECTOR_32(F, I, U, FE, IE, UE, N) STAX_UNSIGNED_VECTOR(I, U, UE, N, 32)
#define STAX_UNSIGNED_VECTOR_64(F, I, U, FE, IE, UE, N) STAX_UNSIGNED_VECTOR(I, U, UE, N, 64)
STAX_EACH_32(STAX_UNSIGNED_VECTOR_32)
STAX_EACH_64(STAX_UNSIGNED_VECTOR_64)
#endif
