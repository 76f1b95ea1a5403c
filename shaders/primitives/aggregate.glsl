// Aggregate: the sum, the least and the greatest of some values. A kernel computes those that WANTED names.
//
// Sums are exact: of integers of 32 bits they have 64 bits, and of integers of 64 bits 128 (low words first, in two's
// complement). The sum of floats is a double, by the integer arithmetic of float.glsl.
#ifndef VKDS_AGGREGATE_GLSL
#define VKDS_AGGREGATE_GLSL

#include "key.glsl"
#include "value.glsl"

layout(constant_id = 17) const uint WANTED = 7;

const bool WANT_SUM = (WANTED & 1u) != 0u;
const bool WANT_LEAST = (WANTED & 2u) != 0u;
const bool WANT_GREATEST = (WANTED & 4u) != 0u;

#if VKDS_VALUES == VKDS_FLOAT

#define TOTAL uvec2   // the bits of a double
const TOTAL TOTAL_NONE = TOTAL(0u, 0x80000000u);   // x + -0 is x for every x
TOTAL total_add(TOTAL a, TOTAL b) { return float_add(a, b, FLOAT_EXPONENT_64); }

#if VKDS_VALUE_BITS == 64
TOTAL total_of(V v) { return value_float(v, ~0u); }
#else
TOTAL total_of(V v) {
    uint f = value_float(uvec2(0u, v), 0u).y;
    uint sign = f & 0x80000000u, exponent = (f >> 23) & 0xffu, fraction = f & 0x7fffffu;
    uint more = 1023u - 127u;   // exponents of doubles are greater by this
    if (exponent == 0u) {
        if (fraction == 0u) return TOTAL(0u, sign);
        uint up = 23u - uint(findMSB(fraction));   // a subnormal number, which is a normal double
        fraction = (fraction << up) & 0x7fffffu;
        exponent = 1u - up + more;   // modulo 2^32; the result is positive
    } else {
        exponent = exponent == 0xffu ? 0x7ffu : exponent + more;
    }
    return TOTAL(fraction << 29, sign | exponent << 20 | fraction >> 3);
}
#endif

#elif VKDS_VALUE_BITS == 64

#define TOTAL uvec4
const TOTAL TOTAL_NONE = TOTAL(0u);
TOTAL total_add(TOTAL a, TOTAL b) {
    uvec2 low = number_add(a.xy, b.xy);
    uvec2 high = number_add(a.zw, b.zw);
    return TOTAL(low, number_add(high, uvec2(number_below(low, b.xy) ? 1u : 0u, 0u)));
}
TOTAL total_of(V v) {
    bool negative = VKDS_VALUES == VKDS_SIGNED && int(v.y) < 0;
    return TOTAL(v, uvec2(negative ? ~0u : 0u));
}

#else

#define TOTAL uvec2
const TOTAL TOTAL_NONE = TOTAL(0u);
TOTAL total_add(TOTAL a, TOTAL b) { return number_add(a, b); }
TOTAL total_of(V v) {
    bool negative = VKDS_VALUES == VKDS_SIGNED && int(v) < 0;
    return TOTAL(v, negative ? ~0u : 0u);
}

#endif

#if VKDS_VALUES != VKDS_FLOAT && VKDS_VALUE_BITS == 64
const uint TOTAL_SHIFT = 4u;   // log2 of a sum's bytes
TOTAL total_load(uvec2 a) { return plain_load4(a); }
void total_store(uvec2 a, TOTAL total) { plain_store4(a, total); }
#else
const uint TOTAL_SHIFT = 3u;
TOTAL total_load(uvec2 a) { return plain_load2(a); }
void total_store(uvec2 a, TOTAL total) { plain_store2(a, total); }
#endif

struct Aggregate {
    TOTAL sum;
    V least, greatest;
};

Aggregate aggregate_none() { return Aggregate(TOTAL_NONE, value_order(V(~0u)), value_order(V(0u))); }

// The aggregate of a with the value v.
Aggregate aggregate_add(Aggregate a, V v) {
    if (WANT_SUM) a.sum = total_add(a.sum, total_of(v));
    if (WANT_LEAST) a.least = value_min(a.least, v);
    if (WANT_GREATEST) a.greatest = value_max(a.greatest, v);
    return a;
}

// The aggregate of the values of both, of which those of a come first.
Aggregate aggregate_both(Aggregate a, Aggregate b) {
    if (WANT_SUM) a.sum = total_add(a.sum, b.sum);
    if (WANT_LEAST) a.least = value_min(a.least, b.least);
    if (WANT_GREATEST) a.greatest = value_max(a.greatest, b.greatest);
    return a;
}

// That of another lane. Collective over the subgroup.
Aggregate aggregate_shuffle(Aggregate a, uint lane) {
    if (WANT_SUM) a.sum = subgroupShuffle(a.sum, lane);
    if (WANT_LEAST) a.least = subgroupShuffle(a.least, lane);
    if (WANT_GREATEST) a.greatest = subgroupShuffle(a.greatest, lane);
    return a;
}

// The aggregate of all lanes. Collective over the subgroup.
Aggregate aggregate_subgroup(Aggregate a) {
    for (uint step = 1u; step < gl_SubgroupSize; step <<= 1)
        a = aggregate_both(a, aggregate_shuffle(a, gl_SubgroupInvocationID ^ step));
    return a;
}

// A segmented scan: the aggregate of the lanes from `first` to this one. The lanes from `first` to this one have the
// same `first`, and lanes before have a lower one. Collective over the subgroup.
Aggregate aggregate_through(Aggregate a, uint first) {
    for (uint step = 1u; step < gl_SubgroupSize; step <<= 1) {
        uint lane = gl_SubgroupInvocationID;
        Aggregate before = aggregate_shuffle(a, lane - min(step, lane));
        if (first + step <= lane) a = aggregate_both(before, a);
    }
    return a;
}

// Three arrays of aggregates, or of what is wanted of them. Sums of floats are encoded like values.
struct AggregateArrays { uvec2 sums, leasts, greatests; };

void aggregate_store(AggregateArrays to, uint i, Aggregate a) {
#if VKDS_VALUES == VKDS_FLOAT
    a.sum = value_of_float(a.sum, ~0u);
#endif
    if (WANT_SUM) total_store(address_at(to.sums, i, TOTAL_SHIFT), a.sum);
    if (WANT_LEAST) value_store_at(to.leasts, i, a.least);
    if (WANT_GREATEST) value_store_at(to.greatests, i, a.greatest);
}

Aggregate aggregate_load(AggregateArrays from, uint i) {
    Aggregate a = aggregate_none();
    if (WANT_SUM) a.sum = total_load(address_at(from.sums, i, TOTAL_SHIFT));
    if (WANT_LEAST) a.least = value_load_at(from.leasts, i);
    if (WANT_GREATEST) a.greatest = value_load_at(from.greatests, i);
#if VKDS_VALUES == VKDS_FLOAT
    a.sum = value_float(a.sum, ~0u);
#endif
    return a;
}

#endif
