/* stax_simd.h: one vector vocabulary over AVX-512, AVX2 and plain scalars. No system header.

Takes STAX_LEVEL (2 = AVX-512, 1 = AVX2, 0 = scalar); gives types and inline functions named
operation_type: load_f32x16, fma_f64x4, select_i32. A vector is never wider than a register of its
level. Operators (+ - * / & | ^ ~ << >>) work on the types directly. Every operation is one IEEE
operation, rounded once; masks are 0 or -1 per lane, in vectors and in scalars. Functions that a
compiler without gcc's builtins (STAX_PORTABLE) needs are written lane by lane with the same bits.
STAX_EACH_32(M), STAX_EACH_64(M) and STAX_EACH_PAIR(M) expand M for every vector type of the level;
the other headers of this folder use them, and a source includes only those it needs.
Not here: bool arrays (stax_bytes.h), 8- and 16-bit integers (stax_narrow.h), unsigned integers
(stax_unsigned.h), float16 (stax_float16.h), integer division (stax_division.h), operations beyond
arithmetic (stax_integer.h, stax_float.h), reductions (stax_reductions.h), elementary functions
(printed into each source), loops. */

typedef float f32;
typedef double f64;
typedef int i32;
typedef long long i64;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;

#if defined(__clang__) && !defined(STAX_PORTABLE)
#define STAX_PORTABLE 1
#endif

#define STAX_INLINE static inline __attribute__((always_inline, unused))

/* lists of N expressions in k */
#define STAX_LIST_4(E) E(0), E(1), E(2), E(3)
#define STAX_LIST_8(E) STAX_LIST_4(E), E(4), E(5), E(6), E(7)
#define STAX_LIST_16(E) STAX_LIST_8(E), E(8), E(9), E(10), E(11), E(12), E(13), E(14), E(15)

/* scalars ------------------------------------------------------------------------------------- */

#define STAX_SCALAR(T, I)                                                                         \
    STAX_INLINE T splat_##T(T x) { return x; }                                                    \
    STAX_INLINE T load_##T(const T *p) { return *p; }                                             \
    STAX_INLINE void store_##T(T *p, T v) { *p = v; }                                             \
    STAX_INLINE I lt_##T(T a, T b) { return -(I)(a < b); }                                        \
    STAX_INLINE I le_##T(T a, T b) { return -(I)(a <= b); }                                       \
    STAX_INLINE I gt_##T(T a, T b) { return -(I)(a > b); }                                        \
    STAX_INLINE I ge_##T(T a, T b) { return -(I)(a >= b); }                                       \
    STAX_INLINE I eq_##T(T a, T b) { return -(I)(a == b); }                                       \
    STAX_INLINE I ne_##T(T a, T b) { return -(I)(a != b); }                                       \
    STAX_INLINE T select_##T(I m, T a, T b) { return m ? a : b; }                                 \
    STAX_INLINE T min_##T(T a, T b) { return a < b ? a : b; }                                     \
    STAX_INLINE T max_##T(T a, T b) { return a > b ? a : b; }

STAX_SCALAR(f32, i32)
STAX_SCALAR(f64, i64)
STAX_SCALAR(i32, i32)
STAX_SCALAR(i64, i64)

STAX_INLINE i32 bits_f32(f32 x) { i32 r; __builtin_memcpy(&r, &x, 4); return r; }
STAX_INLINE i64 bits_f64(f64 x) { i64 r; __builtin_memcpy(&r, &x, 8); return r; }
STAX_INLINE f32 float_f32(i32 x) { f32 r; __builtin_memcpy(&r, &x, 4); return r; }
STAX_INLINE f64 float_f64(i64 x) { f64 r; __builtin_memcpy(&r, &x, 8); return r; }
STAX_INLINE f32 from_int_f32(i32 x) { return (f32)x; }
STAX_INLINE f64 from_int_f64(i64 x) { return (f64)x; }
STAX_INLINE i32 srl_i32(i32 x, int n) { return (i32)((u32)x >> n); }
STAX_INLINE i64 srl_i64(i64 x, int n) { return (i64)((u64)x >> n); }
STAX_INLINE f32 fma_f32(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
STAX_INLINE f64 fma_f64(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
STAX_INLINE f32 sqrt_f32(f32 a) { return __builtin_sqrtf(a); }
STAX_INLINE f64 sqrt_f64(f64 a) { return __builtin_sqrt(a); }

/* NumPy's float to integer on this machine: NaN and out of range give the smallest integer. The
   barrier keeps gcc from folding a conversion there and back into trunc, which differs for both. */
#define STAX_TO_INTEGER(I, F, INSIDE, MIN)                                                        \
    STAX_INLINE I cast_##I##_##F(F x) {                                                           \
        I r = INSIDE ? (I)x : MIN;                                                                \
        __asm__("" : "+r"(r));                                                                    \
        return r;                                                                                 \
    }
STAX_TO_INTEGER(i32, f32, (x >= -0x1p31f && x < 0x1p31f), (i32)0x80000000u)
STAX_TO_INTEGER(i32, f64, (x > -0x1.00000002p31 && x < 0x1p31), (i32)0x80000000u)
STAX_TO_INTEGER(i64, f32, (x >= -0x1p63f && x < 0x1p63f), (i64)(1ULL << 63))
STAX_TO_INTEGER(i64, f64, (x >= -0x1p63 && x < 0x1p63), (i64)(1ULL << 63))

/* a runtime value as an index into an axis of n: wrapped once; out of range it is 0 and sets 4 */
STAX_INLINE i64 stax_position(i64 v, i64 n, int *flags) {
    const i64 at = v < 0 ? v + n : v;
    if (at >= 0 && at < n) return at;
    __atomic_fetch_or(flags, 4, __ATOMIC_RELAXED);
    return 0;
}

/* vectors: what gcc's vector extensions say by themselves ------------------------------------- */

#define STAX_VECTOR(T, I, E, N)                                                                   \
    typedef E T __attribute__((vector_size(N * sizeof(E))));                                      \
    typedef E T##_u __attribute__((vector_size(N * sizeof(E)), aligned(sizeof(E)), may_alias));

#define STAX_COMMON(T, I, E, N)                                                                   \
    STAX_INLINE T splat_##T(E x) { return (T){STAX_LIST_##N(STAX_SAME)}; }                  \
    STAX_INLINE T load_##T(const E *p) { return *(const T##_u *)p; }                              \
    STAX_INLINE void store_##T(E *p, T v) { *(T##_u *)p = v; }                                    \
    STAX_INLINE I lt_##T(T a, T b) { return (I)(a < b); }                                         \
    STAX_INLINE I le_##T(T a, T b) { return (I)(a <= b); }                                        \
    STAX_INLINE I gt_##T(T a, T b) { return (I)(a > b); }                                         \
    STAX_INLINE I ge_##T(T a, T b) { return (I)(a >= b); }                                        \
    STAX_INLINE I eq_##T(T a, T b) { return (I)(a == b); }                                        \
    STAX_INLINE I ne_##T(T a, T b) { return (I)(a != b); }                                        \
    STAX_INLINE T select_##T(I m, T a, T b) { return (T)((m & (I)a) | (~m & (I)b)); }             \
    STAX_INLINE T gather_##T(const E *p, i64 s) { return (T){STAX_LIST_##N(STAX_STRIDED)}; }      \
    STAX_INLINE void scatter_##T(E *p, i64 s, T v, i64 n) {                                       \
        for (i64 k = 0; k < n; k++) p[s * k] = v[k];                                              \
    }                                                                                             \
    STAX_INLINE T gathern_##T(const E *p, i64 s, i64 n, E fill) {                                 \
        E t[N];                                                                                   \
        for (i64 k = 0; k < N; k++) t[k] = k < n ? p[s * k] : fill;                               \
        return *(const T##_u *)t;                                                                 \
    }
#define STAX_SAME(k) x
#define STAX_STRIDED(k) p[s * k]
#define STAX_IOTA(k) k

/* lanes 0 .. n-1 of N as a mask */
#define STAX_MASKS(I, IE, N)                                                                      \
    STAX_INLINE I lanes_##I(i64 n) {                                                              \
        return (I)((I){STAX_LIST_##N(STAX_IOTA)} < splat_##I((IE)n));                             \
    }                                                                                             \
    STAX_INLINE I iota_##I(i64 first, i64 step) {                                                 \
        return splat_##I((IE)first) + (I){STAX_LIST_##N(STAX_IOTA)} * (IE)step;                   \
    }

/* is a bit set in any lane? in all lanes of a mask? */
#define STAX_ANY(I, TYPE, TEST)                                                                   \
    STAX_INLINE int any_##I(I m) { const TYPE v = (TYPE)m; return TEST; }                         \
    STAX_INLINE int all_##I(I m) { return !any_##I(~m); }
#define STAX_ANY_LANES(F, I, U, FE, IE, UE, N)                                                    \
    STAX_INLINE int any_##I(I m) {                                                                \
        IE bits = 0;                                                                              \
        for (int k = 0; k < N; k++) bits |= m[k];                                                 \
        return bits != 0;                                                                         \
    }                                                                                             \
    STAX_INLINE int all_##I(I m) { return !any_##I(~m); }

/* partial loads and stores, lane by lane; AVX-512 has its own below */
#define STAX_PARTIAL(T, E, N)                                                                     \
    STAX_INLINE T loadn_##T(const E *p, i64 n, E fill) {                                          \
        E t[N];                                                                                   \
        for (i64 k = 0; k < N; k++) t[k] = k < n ? p[k] : fill;                                   \
        return *(const T##_u *)t;                                                                 \
    }                                                                                             \
    STAX_INLINE void storen_##T(E *p, T v, i64 n) {                                               \
        for (i64 k = 0; k < n; k++) p[k] = v[k];                                                  \
    }

#define STAX_INTEGER(T, E, U, N)                                                                  \
    STAX_INLINE T srl_##T(T x, int n) { return (T)((U)x >> n); }                                  \
    STAX_INLINE T min_##T(T a, T b) { return select_##T(a < b, a, b); }                           \
    STAX_INLINE T max_##T(T a, T b) { return select_##T(a > b, a, b); }                           \
    STAX_INLINE T maximum_##T(T a, T b) { return select_##T(a > b, a, b); }                       \
    STAX_INLINE T minimum_##T(T a, T b) { return select_##T(a < b, a, b); }                       \
    STAX_INLINE T absolute_##T(T a) { return select_##T(a < 0, -a, a); }

/* lane by lane, the first n: the others must not raise flags, and are not worth a call */
#define STAX_LANES_2(name, T, E)                                                                  \
    STAX_INLINE T name##_##T(T a, T b, i64 n) {                                                   \
        for (i64 k = 0; k < n; k++) a[k] = name##_##E(a[k], b[k]);                                \
        return a;                                                                                 \
    }
#define STAX_LANES_FLAGS(name, T, E)                                                              \
    STAX_INLINE T name##_##T(T a, T b, i64 n, int *flags) {                                       \
        for (i64 k = 0; k < n; k++) a[k] = name##_##E(a[k], b[k], flags);                         \
        return a;                                                                                 \
    }
/* NaN wins, +0.0 > -0.0: where neither holds both orders of the raw instruction agree; for two
   zeros they give one operand each, and `and` (`or` for the minimum) of the sign bits decides */
#define STAX_EXTREMES(T, I)                                                                       \
    STAX_INLINE T maximum_##T(T a, T b) {                                                         \
        const I one = bits_##T(max_##T(a, b)) & bits_##T(max_##T(b, a));                          \
        return float_##T(one | ne_##T(a, a) | ne_##T(b, b));                                      \
    }                                                                                             \
    STAX_INLINE T minimum_##T(T a, T b) {                                                         \
        const I one = bits_##T(min_##T(a, b)) | bits_##T(min_##T(b, a));                          \
        return float_##T(one | ne_##T(a, a) | ne_##T(b, b));                                      \
    }

#define STAX_FLOAT(T, I)                                                                          \
    STAX_INLINE I bits_##T(T x) { return (I)x; }                                                  \
    STAX_INLINE T float_##T(I x) { return (T)x; }                                                 \
    STAX_INLINE T from_int_##T(I x) { return __builtin_convertvector(x, T); }

STAX_INLINE f32 abs_f32(f32 a) { return float_f32(bits_f32(a) & 0x7fffffff); }
STAX_INLINE f64 abs_f64(f64 a) { return float_f64(bits_f64(a) & 0x7fffffffffffffffLL); }
#define absolute_f32 abs_f32
#define absolute_f64 abs_f64
STAX_INLINE i32 absolute_i32(i32 a) { return a < 0 ? -a : a; }
STAX_INLINE i64 absolute_i64(i64 a) { return a < 0 ? -a : a; }
STAX_INLINE i32 maximum_i32(i32 a, i32 b) { return a > b ? a : b; }
STAX_INLINE i64 maximum_i64(i64 a, i64 b) { return a > b ? a : b; }
STAX_INLINE i32 minimum_i32(i32 a, i32 b) { return a < b ? a : b; }
STAX_INLINE i64 minimum_i64(i64 a, i64 b) { return a < b ? a : b; }
STAX_EXTREMES(f32, i32)
STAX_EXTREMES(f64, i64)

/* lane by lane forms of what needs a builtin */
#define STAX_LANEWISE(T, E, N)                                                                    \
    STAX_INLINE T fma_##T(T a, T b, T c) {                                                        \
        for (int k = 0; k < N; k++) c[k] = fma_##E(a[k], b[k], c[k]);                             \
        return c;                                                                                 \
    }                                                                                             \
    STAX_INLINE T sqrt_##T(T a) {                                                                 \
        for (int k = 0; k < N; k++) a[k] = sqrt_##E(a[k]);                                        \
        return a;                                                                                 \
    }                                                                                             \
    STAX_INLINE T max_##T(T a, T b) { return select_##T(gt_##T(a, b), a, b); }                    \
    STAX_INLINE T min_##T(T a, T b) { return select_##T(lt_##T(a, b), a, b); }

#define STAX_BUILTIN(T, S)                                                                        \
    STAX_INLINE T fma_##T(T a, T b, T c) { return (T)__builtin_ia32_vfmadd##S(a, b, c); }         \
    STAX_INLINE T sqrt_##T(T a) { return (T)__builtin_ia32_sqrt##S(a); }                          \
    STAX_INLINE T max_##T(T a, T b) { return (T)__builtin_ia32_max##S(a, b); }                    \
    STAX_INLINE T min_##T(T a, T b) { return (T)__builtin_ia32_min##S(a, b); }

#define STAX_BUILTIN_512(T, S)                                                                    \
    STAX_INLINE T fma_##T(T a, T b, T c) { return (T)__builtin_ia32_vfmadd##S##512_mask(a, b, c, -1, 4); } \
    STAX_INLINE T sqrt_##T(T a) { return (T)__builtin_ia32_sqrt##S##512_mask(a, (T){0}, -1, 4); } \
    STAX_INLINE T max_##T(T a, T b) { return (T)__builtin_ia32_max##S##512_mask(a, b, (T){0}, -1, 4); } \
    STAX_INLINE T min_##T(T a, T b) { return (T)__builtin_ia32_min##S##512_mask(a, b, (T){0}, -1, 4); }

#define STAX_MASKED_512(T, E, N, S, M)                                                            \
    STAX_INLINE T loadn_##T(const E *p, i64 n, E fill) {                                          \
        return (T)__builtin_ia32_load##S##_mask((const void *)p, splat_##T(fill), (M)((1u << n) - 1)); \
    }                                                                                             \
    STAX_INLINE void storen_##T(E *p, T v, i64 n) {                                               \
        __builtin_ia32_store##S##_mask((void *)p, v, (M)((1u << n) - 1));                         \
    }

/* a type that is narrower in memory than in registers: elements E of the memory type M, N lanes I;
   LOAD and STORE convert whole vectors */
#define STAX_MEMORY(M, E, I, N, LOAD, STORE)                                                      \
    STAX_INLINE I load_##M##_##I(const E *p) { return LOAD(*(const M##x##N##_u *)p); }            \
    STAX_INLINE I loadn_##M##_##I(const E *p, i64 n, E fill) {                                    \
        E t[N];                                                                                   \
        for (i64 k = 0; k < N; k++) t[k] = k < n ? p[k] : fill;                                   \
        return load_##M##_##I(t);                                                                 \
    }                                                                                             \
    STAX_INLINE I gather_##M##_##I(const E *p, i64 s) {                                           \
        const E t[N] = {STAX_LIST_##N(STAX_STRIDED)};                                             \
        return load_##M##_##I(t);                                                                 \
    }                                                                                             \
    STAX_INLINE I gathern_##M##_##I(const E *p, i64 s, i64 n, E fill) {                           \
        E t[N];                                                                                   \
        for (i64 k = 0; k < N; k++) t[k] = k < n ? p[s * k] : fill;                               \
        return load_##M##_##I(t);                                                                 \
    }                                                                                             \
    STAX_INLINE void store_##M##_##I(E *p, I v) { *(M##x##N##_u *)p = STORE(v); }                 \
    STAX_INLINE void scatter_##M##_##I(E *p, i64 s, I v, i64 n) {                                 \
        E t[N];                                                                                   \
        store_##M##_##I(t, v);                                                                    \
        for (i64 k = 0; k < n; k++) p[s * k] = t[k];                                              \
    }                                                                                             \
    STAX_INLINE void storen_##M##_##I(E *p, I v, i64 n) { scatter_##M##_##I(p, 1, v, n); }

/* one float type and one integer type of N lanes, complete ------------------------------------- */

#define STAX_TYPES(F, I, U, FE, IE, UE, N)                                                        \
    STAX_VECTOR(I, I, IE, N)                                                                      \
    STAX_VECTOR(U, I, UE, N)                                                                      \
    STAX_VECTOR(F, I, FE, N)                                                                      \
    STAX_COMMON(I, I, IE, N)                                                                      \
    STAX_COMMON(F, I, FE, N)                                                                      \
    STAX_MASKS(I, IE, N)                                                                          \
    STAX_INTEGER(I, IE, U, N)                                                                     \
    STAX_FLOAT(F, I)

#define STAX_LAST_F32(F, I, U, FE, IE, UE, N)                                                     \
    STAX_INLINE F abs_##F(F a) { return (F)((I)a & 0x7fffffff); }                                 \
    STAX_INLINE F absolute_##F(F a) { return abs_##F(a); }                                        \
    STAX_EXTREMES(F, I)

#define STAX_LAST_F64(F, I, U, FE, IE, UE, N)                                                     \
    STAX_INLINE F abs_##F(F a) { return (F)((I)a & 0x7fffffffffffffffLL); }                       \
    STAX_INLINE F absolute_##F(F a) { return abs_##F(a); }                                        \
    STAX_EXTREMES(F, I)

/* value conversions between the lanes of one kernel; float to integer as in the scalar forms */
#define STAX_CONVERT(TO, FROM)                                                                    \
    STAX_INLINE TO cast_##TO##_##FROM(FROM x) { return __builtin_convertvector(x, TO); }

#if STAX_LEVEL == 2
#define STAX_VECTOR_REGISTER "+v"
#else
#define STAX_VECTOR_REGISTER "+x"
#endif
#define STAX_TO_INTEGERS(TO, FROM)                                                                \
    STAX_INLINE TO cast_##TO##_##FROM(FROM x) {                                                   \
        TO r = __builtin_convertvector(x, TO);                                                    \
        __asm__("" : STAX_VECTOR_REGISTER(r));                                                    \
        return r;                                                                                 \
    }

#define STAX_CONVERSIONS_64(N)                                                                    \
    STAX_CONVERT(f64x##N, f32x##N)                                                                \
    STAX_CONVERT(f32x##N, f64x##N)                                                                \
    STAX_CONVERT(i64x##N, i32x##N)                                                                \
    STAX_CONVERT(i32x##N, i64x##N)                                                                \
    STAX_CONVERT(f64x##N, i32x##N)                                                                \
    STAX_CONVERT(f32x##N, i64x##N)                                                                \
    STAX_TO_INTEGERS(i32x##N, f64x##N)                                                            \
    STAX_TO_INTEGERS(i64x##N, f32x##N)                                                            \
    STAX_CONVERT(f64x##N, i64x##N)                                                                \
    STAX_TO_INTEGERS(i64x##N, f64x##N)

#define STAX_CONVERSIONS_32(F, I, U, FE, IE, UE, N)                                               \
    STAX_CONVERT(F, I)                                                                            \
    STAX_TO_INTEGERS(I, F)

#if STAX_LEVEL == 2
#define STAX_EACH_32(M)                                                                           \
    M(f32x16, i32x16, u32x16, f32, i32, u32, 16)                                                  \
    M(f32x8, i32x8, u32x8, f32, i32, u32, 8)
#define STAX_EACH_64(M) M(f64x8, i64x8, u64x8, f64, i64, u64, 8)
#define STAX_EACH_PAIR(M) M(8)
#elif STAX_LEVEL == 1
#define STAX_EACH_32(M)                                                                           \
    M(f32x8, i32x8, u32x8, f32, i32, u32, 8)                                                      \
    M(f32x4, i32x4, u32x4, f32, i32, u32, 4)
#define STAX_EACH_64(M) M(f64x4, i64x4, u64x4, f64, i64, u64, 4)
#define STAX_EACH_PAIR(M) M(4)
#else
#define STAX_EACH_32(M)
#define STAX_EACH_64(M)
#define STAX_EACH_PAIR(M)
#endif

STAX_EACH_32(STAX_TYPES)
STAX_EACH_64(STAX_TYPES)
#define STAX_LANEWISE_FLOAT(F, I, U, FE, IE, UE, N) STAX_LANEWISE(F, FE, N)
#define STAX_PARTIALS(F, I, U, FE, IE, UE, N) STAX_PARTIAL(F, FE, N) STAX_PARTIAL(I, IE, N)
#ifdef STAX_PORTABLE
STAX_EACH_32(STAX_LANEWISE_FLOAT)
STAX_EACH_64(STAX_LANEWISE_FLOAT)
STAX_EACH_32(STAX_ANY_LANES)
STAX_EACH_64(STAX_ANY_LANES)
#elif STAX_LEVEL == 2
typedef i64 stax_i64x4 __attribute__((vector_size(32)));
STAX_ANY(i32x16, i32x16, __builtin_ia32_ptestmd512(v, v, -1) != 0)
STAX_ANY(i32x8, stax_i64x4, !__builtin_ia32_ptestz256(v, v))
STAX_ANY(i64x8, i64x8, __builtin_ia32_ptestmq512(v, v, -1) != 0)
STAX_BUILTIN_512(f32x16, ps)
STAX_BUILTIN(f32x8, ps256)
STAX_BUILTIN_512(f64x8, pd)
#elif STAX_LEVEL == 1
typedef i64 stax_i64x2 __attribute__((vector_size(16)));
STAX_ANY(i32x8, i64x4, !__builtin_ia32_ptestz256(v, v))
STAX_ANY(i32x4, stax_i64x2, !__builtin_ia32_ptestz128(v, v))
STAX_ANY(i64x4, i64x4, !__builtin_ia32_ptestz256(v, v))
STAX_BUILTIN(f32x8, ps256)
STAX_BUILTIN(f64x4, pd256)
STAX_BUILTIN(f32x4, ps)
#endif
#if STAX_LEVEL == 2 && !defined(STAX_PORTABLE)
STAX_MASKED_512(f32x16, f32, 16, ups512, unsigned short)
STAX_MASKED_512(i32x16, i32, 16, dqusi512, unsigned short)
STAX_MASKED_512(f32x8, f32, 8, ups256, unsigned char)
STAX_MASKED_512(i32x8, i32, 8, dqusi256, unsigned char)
STAX_MASKED_512(f64x8, f64, 8, upd512, unsigned char)
STAX_MASKED_512(i64x8, i64, 8, dqudi512, unsigned char)
#else
STAX_EACH_32(STAX_PARTIALS)
STAX_EACH_64(STAX_PARTIALS)
#endif
STAX_EACH_32(STAX_LAST_F32)
STAX_EACH_64(STAX_LAST_F64)
STAX_EACH_32(STAX_CONVERSIONS_32)
STAX_EACH_PAIR(STAX_CONVERSIONS_64)

#define STAX_CAST(TO, FROM) STAX_INLINE TO cast_##TO##_##FROM(FROM x) { return (TO)x; }
STAX_CAST(f64, f32)
STAX_CAST(f32, f64)
STAX_CAST(i64, i32)
STAX_CAST(i32, i64)
STAX_CAST(f64, i32)
STAX_CAST(f32, i64)
STAX_CAST(f64, i64)
STAX_CAST(f32, i32)

/* the low 32 bits of a float's conversion to int64: what 8- and 16-bit integers and uint32 take */
STAX_INLINE i32 low_i32_f32(f32 x) { return (i32)cast_i64_f32(x); }
STAX_INLINE i32 low_i32_f64(f64 x) { return (i32)cast_i64_f64(x); }
/* from 2^31 on a float32 is its 24-bit significand shifted left; what is shifted out is above */
#define STAX_LOW_32(F, I, U, FE, IE, UE, N)                                                       \
    STAX_INLINE I low_##I##_##F(F x) {                                                            \
        const I small = lt_##F(abs_##F(x), splat_##F(0x1p31f)), low = cast_##I##_##F(x);          \
        if (all_##I(small)) return low;                                                           \
        const I bits = bits_##F(abs_##F(x)), shift = (bits >> 23) - 150;                          \
        const I in = (I)(shift >= 0) & (I)(shift < 32);                                           \
        const I value = (((bits & 0x7fffff) | 0x800000) << (shift & 31)) & in;                    \
        const I large = select_##I(lt_##F(x, splat_##F(0)), -value, value);                       \
        return select_##I(small, low, large);                                                     \
    }
#define STAX_LOW_64(N)                                                                            \
    STAX_INLINE i32x##N low_i32x##N##_f64x##N(f64x##N x) {                                        \
        return cast_i32x##N##_i64x##N(cast_i64x##N##_f64x##N(x));                                 \
    }
STAX_EACH_32(STAX_LOW_32)
STAX_EACH_PAIR(STAX_LOW_64)

/* the float environment: round to nearest, no flush to zero, no denormals-are-zero, all exceptions
   masked (semantics: pointwise). Another library may have changed it in this thread. */
STAX_INLINE u32 stax_enter(void) {
    const u32 before = __builtin_ia32_stmxcsr();
    if ((before & 0xffc0u) != 0x1f80u) __builtin_ia32_ldmxcsr(0x1f80u);
    return before;
}
STAX_INLINE void stax_leave(u32 before) {
    if ((before & 0xffc0u) != 0x1f80u) __builtin_ia32_ldmxcsr(before);
}

/* the part of [0, n) that thread t of count runs, in multiples of grain */
STAX_INLINE i64 stax_part(i64 n, i64 t, i64 count, i64 grain) {
    const i64 blocks = (n + grain - 1) / grain;
    const i64 at = blocks * t / count * grain;
    return at < n ? at : n;
}
