// Number: arithmetic of unsigned numbers of 32 bits (uint) and of 64 bits (uvec2: low word, high word), by the same
// names, so that one source is compiled for both. It uses no 64-bit integers because some devices have none.
#ifndef VKDS_NUMBER_GLSL
#define VKDS_NUMBER_GLSL

bool number_equal(uint a, uint b) { return a == b; }
bool number_equal(uvec2 a, uvec2 b) { return a.x == b.x && a.y == b.y; }

bool number_below(uint a, uint b) { return a < b; }
bool number_below(uvec2 a, uvec2 b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }

uint number_min(uint a, uint b) { return min(a, b); }
uvec2 number_min(uvec2 a, uvec2 b) { return number_below(b, a) ? b : a; }
uint number_max(uint a, uint b) { return max(a, b); }
uvec2 number_max(uvec2 a, uvec2 b) { return number_below(a, b) ? b : a; }

// a + b and a - b, modulo 2^32 and 2^64.
uint number_add(uint a, uint b) { return a + b; }
uvec2 number_add(uvec2 a, uvec2 b) {
    uint low = a.x + b.x;
    return uvec2(low, a.y + b.y + (low < b.x ? 1u : 0u));
}
uint number_subtract(uint a, uint b) { return a - b; }
uvec2 number_subtract(uvec2 a, uvec2 b) { return uvec2(a.x - b.x, a.y - b.y - (a.x < b.x ? 1u : 0u)); }

// (a >> shift) & mask, as a word.
uint number_bits(uint a, uint shift, uint mask) { return (a >> shift) & mask; }
uint number_bits(uvec2 a, uint shift, uint mask) { return ((shift < 32u ? a.x : a.y) >> (shift & 31u)) & mask; }

// a >> shift, for a shift below the number's width, as a word, or ~0 if the result doesn't fit into one.
uint number_from(uint a, uint shift) { return a >> shift; }
uint number_from(uvec2 a, uint shift) {
    if (shift >= 32u) return a.y >> (shift & 31u);
    if (a.y >> shift != 0u) return ~0u;
    return a.x >> shift | (shift == 0u ? 0u : a.y << (32u - shift));
}

// a << shift for a word a, modulo 2^64.
uvec2 number_shifted(uint a, uint shift) {
    if (shift >= 32u) return uvec2(0u, a << (shift & 31u));
    return uvec2(a << shift, shift == 0u ? 0u : a >> (32u - shift));
}

#endif
