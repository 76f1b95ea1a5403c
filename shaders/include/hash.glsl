// Hashing: a bijective mix of 32 bits, one of 64 bits to 32, and the reduction to a bucket that keeps the order of the
// hashes.
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

// Of both words, so that keys which differ in one of them alone never have the same hash.
uint hash_mix(uvec2 x) { return hash_mix(hash_mix(x.x) ^ x.y); }

// Maps a 32-bit hash to 0 … n-1, monotonically.
uint hash_reduce(uint h, uint n) {
    uint high, low;
    umulExtended(h, n, high, low);
    return high;
}

// Which of one table's buckets share hashes with bucket x of another: those from hash_first_bucket to
// hash_last_bucket, and perhaps no key of the first or last of them. The ratio of the two tables' numbers of
// buckets is in 32.32 fixed point (low word first), rounded down for the first and up for the last.
uint hash_first_bucket(uint x, uvec2 ratio_down) {
    uint high, low;
    umulExtended(x, ratio_down.x, high, low);
    return x * ratio_down.y + high;
}
uint hash_last_bucket(uint x, uvec2 ratio_up) {
    uint high, low;
    umulExtended(x + 1u, ratio_up.x, high, low);
    return (x + 1u) * ratio_up.y + high - (low == 0u ? 1u : 0u);   // the bucket before the end
}

#endif
