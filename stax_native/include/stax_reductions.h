/* stax_reductions.h: the lanes of accumulators folded, and partial results of chunks combined.

The last header of a source: it serves the types of those before it. Gives fold_<kind>_<type> and,
for sums and products of floats, whose order shows, pairs_, push_ and total_<kind>_<type>. Products
of float16 round at every step (prod_f16). Not here: the operations that combine. */

/* fold the lanes of a vector by halves: lane j takes lane j + w, for w = N/2 .. 1 */
#define STAX_PLUS_8(k) (k) + 8
#define STAX_PLUS_4(k) (k) + 4
#define STAX_PLUS_2(k) (k) + 2
#define STAX_PLUS_1(k) (k) + 1
#ifdef __clang__
#define STAX_ROTATED(T, I, v, N, w) __builtin_shufflevector(v, v, STAX_LIST_##N(STAX_PLUS_##w))
#else
#define STAX_ROTATED(T, I, v, N, w) __builtin_shuffle(v, v, (I){STAX_LIST_##N(STAX_PLUS_##w)})
#endif
#define STAX_STEP(T, I, N, w, combine) v = combine(v, STAX_ROTATED(T, I, v, N, w));
#define STAX_STEPS_4(T, I, N, combine)                                                            \
    STAX_STEP(T, I, N, 2, combine) STAX_STEP(T, I, N, 1, combine)
#define STAX_STEPS_8(T, I, N, combine) STAX_STEP(T, I, N, 4, combine) STAX_STEPS_4(T, I, N, combine)
#define STAX_STEPS_16(T, I, N, combine)                                                           \
    STAX_STEP(T, I, N, 8, combine) STAX_STEPS_8(T, I, N, combine)
#define STAX_FOLD(T, I, E, N, name, combine)                                                      \
    STAX_INLINE E fold_##name##_##T(T v) {                                                        \
        STAX_STEPS_##N(T, I, N, combine)                                                          \
        return v[0];                                                                              \
    }
#define STAX_FOLD_SCALAR(E, name) STAX_INLINE E fold_##name##_##E(E v) { return v; }
#define STAX_ADD(a, b) ((a) + (b))
#define STAX_MULTIPLY(a, b) ((a) * (b))

/* partial results of chunks, combined by adjacent pairs, an odd last one passes up: a binary
   counter in O(log n) memory (semantics 5) */
#define STAX_PAIRS(T, name, combine)                                                              \
    typedef struct { u64 count; T part[44]; } pairs_##name##_##T;                                 \
    STAX_INLINE void push_##name##_##T(pairs_##name##_##T *p, T x) {                              \
        u64 c = p->count++;                                                                       \
        int k = 0;                                                                                \
        while (c & 1) { x = combine(p->part[k], x); c >>= 1; k++; }                               \
        p->part[k] = x;                                                                           \
    }                                                                                             \
    STAX_INLINE T total_##name##_##T(const pairs_##name##_##T *p) {                               \
        u64 c = p->count;                                                                         \
        int k = 0;                                                                                \
        while (!(c & 1)) { c >>= 1; k++; }                                                        \
        T x = p->part[k];                                                                         \
        for (c >>= 1, k++; c; c >>= 1, k++) if (c & 1) x = combine(p->part[k], x);                \
        return x;                                                                                 \
    }

#define STAX_REDUCTIONS_FLOAT(T, I, E, N)                                                         \
    STAX_FOLD(T, I, E, N, sum, STAX_ADD)                                                          \
    STAX_FOLD(T, I, E, N, prod, STAX_MULTIPLY)                                                    \
    STAX_FOLD(T, I, E, N, max, maximum_##T)                                                       \
    STAX_FOLD(T, I, E, N, min, minimum_##T)                                                       \
    STAX_PAIRS(T, sum, STAX_ADD)                                                                  \
    STAX_PAIRS(T, prod, STAX_MULTIPLY)

#define STAX_REDUCTIONS_INT(T, I, E, N)                                                           \
    STAX_FOLD(T, I, E, N, sum, STAX_ADD)                                                          \
    STAX_FOLD(T, I, E, N, prod, STAX_MULTIPLY)                                                    \
    STAX_FOLD(T, I, E, N, max, maximum_##T)                                                       \
    STAX_FOLD(T, I, E, N, min, minimum_##T)                                                       \
    STAX_FOLD(T, I, E, N, and, STAX_AND)                                                          \
    STAX_FOLD(T, I, E, N, or, STAX_OR)                                                            \
    STAX_FOLD(T, I, E, N, xor, STAX_XOR)
#define STAX_AND(a, b) ((a) & (b))
#define STAX_OR(a, b) ((a) | (b))
#define STAX_XOR(a, b) ((a) ^ (b))

#define STAX_REDUCTIONS_SCALAR(E)                                                                 \
    STAX_FOLD_SCALAR(E, sum)                                                                      \
    STAX_FOLD_SCALAR(E, prod)                                                                     \
    STAX_FOLD_SCALAR(E, max)                                                                      \
    STAX_FOLD_SCALAR(E, min)                                                                      \
    STAX_FOLD_SCALAR(E, fmax)                                                                     \
    STAX_FOLD_SCALAR(E, fmin)                                                                     \
    STAX_FOLD_SCALAR(E, and)                                                                      \
    STAX_FOLD_SCALAR(E, or)                                                                       \
    STAX_FOLD_SCALAR(E, xor)

/* scalars count as folded vectors of one lane */
STAX_REDUCTIONS_SCALAR(f32)
STAX_REDUCTIONS_SCALAR(f64)
STAX_REDUCTIONS_SCALAR(i32)
STAX_REDUCTIONS_SCALAR(i64)
STAX_PAIRS(f32, sum, STAX_ADD)
STAX_PAIRS(f32, prod, STAX_MULTIPLY)
STAX_PAIRS(f64, sum, STAX_ADD)
STAX_PAIRS(f64, prod, STAX_MULTIPLY)
#define STAX_REDUCTIONS(F, I, U, FE, IE, UE, N)                                                   \
    STAX_REDUCTIONS_FLOAT(F, I, FE, N)                                                            \
    STAX_REDUCTIONS_INT(I, I, IE, N)
STAX_EACH_32(STAX_REDUCTIONS)
STAX_EACH_64(STAX_REDUCTIONS)

#ifdef STAX_HAS_UNSIGNED
STAX_REDUCTIONS_SCALAR(u32)
STAX_REDUCTIONS_SCALAR(u64)
#define STAX_REDUCTIONS_UNSIGNED(F, I, U, FE, IE, UE, N) STAX_REDUCTIONS_INT(U, I, UE, N)
STAX_EACH_32(STAX_REDUCTIONS_UNSIGNED)
STAX_EACH_64(STAX_REDUCTIONS_UNSIGNED)
#endif

#ifdef STAX_HAS_FLOAT
#define STAX_REDUCTIONS_NUMBERS(F, I, U, FE, IE, UE, N)                                           \
    STAX_FOLD(F, I, FE, N, fmax, fmax_##F)                                                        \
    STAX_FOLD(F, I, FE, N, fmin, fmin_##F)
STAX_EACH_32(STAX_REDUCTIONS_NUMBERS)
STAX_EACH_64(STAX_REDUCTIONS_NUMBERS)
#endif

#ifdef STAX_HAS_FLOAT16
#define STAX_MULTIPLY_F16(a, b) round_f16((a) * (b))
#define STAX_MULTIPLY_F16_f32x4(a, b) round_f16_f32x4((a) * (b))
#define STAX_MULTIPLY_F16_f32x8(a, b) round_f16_f32x8((a) * (b))
#define STAX_MULTIPLY_F16_f32x16(a, b) round_f16_f32x16((a) * (b))
#define STAX_REDUCTIONS_FLOAT16(F, I, U, FE, IE, UE, N)                                           \
    STAX_FOLD(F, I, f32, N, prod_f16, STAX_MULTIPLY_F16_##F)                                      \
    STAX_PAIRS(F, prod_f16, STAX_MULTIPLY_F16_##F)
STAX_FOLD_SCALAR(f32, prod_f16)
STAX_PAIRS(f32, prod_f16, STAX_MULTIPLY_F16)
STAX_EACH_32(STAX_REDUCTIONS_FLOAT16)
#endif
