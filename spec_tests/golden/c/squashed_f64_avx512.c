// squashed, kernels: 1; written by Stax
#define STAX_LEVEL 2
#include "stax_simd.h"

static inline f64x8 tanh_f64x8(f64x8 x) {
    const f64x8 a = abs_f64x8(x);
    const f64x8 z = a * a;
    const f64x8 t2 = a * z;
    const f64x8 t3 = fma_f64x8(splat_f64x8(-0x1.a0ded66b92eb4p-13), z, splat_f64x8(-0x1.4fb466751a163p-6));
    const f64x8 t4 = fma_f64x8(t3, z, splat_f64x8(-0x1.5555555555546p-2));
    const f64x8 p = t2 * t4;
    const f64x8 t6 = fma_f64x8(splat_f64x8(0x1.b03cba29b5aa3p-13), z, splat_f64x8(0x1.7d688d7420fa2p-6));
    const f64x8 t7 = fma_f64x8(t6, z, splat_f64x8(0x1.d88b6ccf8e174p-2));
    const f64x8 q = fma_f64x8(t7, z, splat_f64x8(0x1p+0));
    const f64x8 capped = min_f64x8(splat_f64x8(0x1.34p+4), a);  // NaN passes
    const f64x8 t10 = capped + capped;
    const f64x8 shifted = fma_f64x8(t10, splat_f64x8(0x1.71547652b82fep+0), splat_f64x8(0x1.8p+52));
    const f64x8 n = shifted - splat_f64x8(0x1.8p+52);  // x / ln 2 to nearest
    const f64x8 high = fma_f64x8(n, splat_f64x8(-0x1.62e42fefa38p-1), t10);
    const f64x8 r = fma_f64x8(n, splat_f64x8(-0x1.ef35793c7673p-45), high);  // x - n ln 2, |r| <= ln(2)/2
    const i64x8 t15 = bits_f64x8(shifted);
    const i64x8 exponent = t15 << 52;  // n as an exponent field
    const f64x8 t17 = fma_f64x8(splat_f64x8(0x1.ad1e0f1a26b04p-26), r, splat_f64x8(0x1.289f8a3aedabdp-22));
    const f64x8 t18 = fma_f64x8(t17, r, splat_f64x8(0x1.71df5686f252fp-19));
    const f64x8 t19 = fma_f64x8(t18, r, splat_f64x8(0x1.a019ab2df9c79p-16));
    const f64x8 t20 = fma_f64x8(t19, r, splat_f64x8(0x1.a01a011b97d5p-13));
    const f64x8 t21 = fma_f64x8(t20, r, splat_f64x8(0x1.6c16c17cc2e39p-10));
    const f64x8 t22 = fma_f64x8(t21, r, splat_f64x8(0x1.11111111289e7p-7));
    const f64x8 t23 = fma_f64x8(t22, r, splat_f64x8(0x1.5555555553209p-5));
    const f64x8 t24 = fma_f64x8(t23, r, splat_f64x8(0x1.5555555555501p-3));
    const f64x8 t25 = fma_f64x8(t24, r, splat_f64x8(0x1p-1));
    const f64x8 t26 = fma_f64x8(t25, r, splat_f64x8(0x1p+0));
    const f64x8 t = r * t26;  // exp(r) - 1
    const i64x8 t28 = exponent + 0x3ff0000000000000;
    const f64x8 scale = float_f64x8(t28);  // 2^n
    const f64x8 t30 = scale + splat_f64x8(0x1p+0);
    const f64x8 d = fma_f64x8(scale, t, t30);  // exp + 1
    const i64x8 small = lt_f64x8(a, splat_f64x8(0x1.8p-1));
    const f64x8 t33 = select_f64x8(small, a, splat_f64x8(0x1p+0));
    const f64x8 t34 = select_f64x8(small, p, splat_f64x8(-0x1p+1));
    const f64x8 t35 = select_f64x8(small, q, d);
    const f64x8 t36 = t34 / t35;
    const f64x8 t37 = t33 + t36;
    const i64x8 t38 = bits_f64x8(x);
    const i64x8 t39 = bits_f64x8(a);
    const i64x8 sign = t38 ^ t39;
    const i64x8 t41 = bits_f64x8(t37);
    const i64x8 t42 = t41 | sign;
    const f64x8 t43 = float_f64x8(t42);
    return t43;
}

/* kernel k0  (out)  from programs.py:66
     x: f64[1000]
     scale: f64[]
     out: f64[1000]
     t1: f64 = load scale[]
     for i0 in 1000 parallel
       t0: f64 = load x[i0]
       t2: f64 = multiply t0, t1
       t3: f64 = tanh t2
       t4: f64 = multiply t3, t3
       out[i0] = t4
*/
static void k0(void *const *b, i64 begin, i64 end, int *flags) {
    const f64 *const restrict x = b[0];  // (1000)
    const f64 *const restrict scale = b[1];  // ()
    f64 *const restrict out = b[2];  // (1000)
    (void)flags;
    const f64 t1 = scale[0];
    {
        i64 i0 = begin;
        for (; i0 + 8 <= end; i0 += 8) {
            const f64x8 t0 = load_f64x8(x + i0);
            const f64x8 t2 = t0 * splat_f64x8(t1);
            const f64x8 t3 = tanh_f64x8(t2);
            const f64x8 t4 = t3 * t3;
            store_f64x8(out + i0, t4);
        }
        if (i0 < end) {
            const i64 n = end - i0;  // lanes left
            const f64x8 t0 = loadn_f64x8(x + i0, n, 0);
            const f64x8 t2 = t0 * splat_f64x8(t1);
            const f64x8 t3 = tanh_f64x8(t2);
            const f64x8 t4 = t3 * t3;
            storen_f64x8(out + i0, t4, n);
        }
    }
}

int stax_launch_0_serial(void *const *b) {
    int flags = 0;
    const u32 env = stax_enter();
    k0(b, 0, 1000, &flags);
    stax_leave(env);
    return flags;
}
