// Hashing: a bijective 32-bit mix, and its reduction to a bucket that keeps the order of the hashes.
//
// Buckets are ranges of hash values (the high word of hash * buckets), not residues: when a table
// changes its number of buckets, each new bucket draws on a contiguous run of old ones, so a rehash
// streams.
#ifndef VKDS_HASH_GLSL
#define VKDS_HASH_GLSL

// Two rounds of xor-shift and multiplication; constants with low bias found by C. Wellons.
uint hash_mix(uint x) {
    x ^= x >> 16;
    x *= 0x21f0aaadu;
    x ^= x >> 15;
    x *= 0xd35a2d97u;
    x ^= x >> 15;
    return x;
}

// Maps a 32-bit hash to 0 … n-1, monotonically.
uint hash_reduce(uint h, uint n) {
    uint high, low;
    umulExtended(h, n, high, low);
    return high;
}

// floor(x * to / from), exactly, for x <= from: where a position among `from` buckets lies among `to`.
uint hash_rescale(uint x, uint from, uint to) {
    uint high, quotient;
    umulExtended(x, to, high, quotient);   // the 64-bit dividend; its low word makes room for the quotient
    if (high >= from) return to;           // only x == from
    for (uint i = 0u; i < 32u; i++) {
        bool carry = (high >> 31) != 0u;
        high = high << 1 | quotient >> 31;
        quotient <<= 1;
        if (carry || high >= from) {
            high -= from;
            quotient |= 1u;
        }
    }
    return quotient;
}

#endif
