// Weights: how the weights along a path are added up, as integers or as floats.
//
// The bits of non-negative floats have the order of the floats, so distances are compared as words in both forms. Sums
// of floats are computed with integers. They are exactly those of IEEE 754 on every device, rounded to nearest and with
// subnormal numbers: Vulkan lets a device flush these to 0 and round in another way.
#ifndef VKDS_ANALYTICS_WEIGHTS_GLSL
#define VKDS_ANALYTICS_WEIGHTS_GLSL

layout(constant_id = 18) const uint FLOATS = 0;   // 1: weights and distances are the bits of floats

const uint FLOAT_INFINITY = 0x7f800000u;
const uint FLOAT_ZERO_BELOW = 0x80000000u;   // -0

// Whether a float is negative or NaN. -0 is neither.
bool weight_invalid(uint weight) { return weight > FLOAT_INFINITY && weight != FLOAT_ZERO_BELOW; }

// The sum of two floats that are not negative. If it is too great, at least FLOAT_INFINITY.
uint float_sum(uint a, uint b) {
    uint x = max(a, b), y = min(a, b);
    uint above = max(x >> 23, 1u) - 1u, below = max(y >> 23, 1u) - 1u;   // exponents; 0 for subnormal numbers, too
    uint whole = (y - (below << 23)) << 7, shift = min(above - below, 31u);   // significands, with seven more bits
    uint part = whole >> shift;
    part |= part << shift != whole ? 1u : 0u;
    uint sum = ((x - (above << 23)) << 7) + part;
    uint carry = sum >> 31, drop = 7u + carry;
    sum = (sum + (1u << (drop - 1u)) - 1u + (sum >> drop & 1u)) >> drop;
    return ((above + carry) << 23) + sum;
}

// The length of a path that is longer by an arc. The weight must be valid. If the sum is too great: ~0 for floats, and
// less than the distance for integers.
uint path_sum(uint distance, uint weight) {
    if (FLOATS == 0u) return distance + weight;
    uint sum = float_sum(distance, weight & ~FLOAT_ZERO_BELOW);
    return sum >= FLOAT_INFINITY ? ~0u : sum;
}

#endif
