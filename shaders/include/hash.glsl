// Hashing: hash functions of keys, and the reduction of a hash to a bucket, which keeps the order of hashes.
//
// Buckets are ranges of hash values (the high word of hash * buckets), not residues. When a table
// changes its number of buckets, the keys of a new bucket come from consecutive old ones, so a rehash
// reads and writes memory in order.
#ifndef VKDS_HASH_GLSL
#define VKDS_HASH_GLSL

// Hashes 32 bits; it is a bijection. Two rounds of xor-shift and multiplication; C. Wellons found the constants, which
// have low bias.
uint hash_mix(uint x) {
    x ^= x >> 16;
    x *= 0x21f0aaadu;
    x ^= x >> 15;
    x *= 0xd35a2d97u;
    x ^= x >> 15;
    return x;
}

// Hashes 64 bits to 32. Keys that differ in only one of their words never have the same hash.
uint hash_mix(uvec2 x) { return hash_mix(hash_mix(x.x) ^ x.y); }

// Maps a 32-bit hash to 0 … n-1, monotonically.
uint hash_reduce(uint h, uint n) {
    uint high, low;
    umulExtended(h, n, high, low);
    return high;
}

// The buckets of one table that share hashes with bucket x of another: from hash_first_bucket to hash_last_bucket.
// The first and the last of them may share none, because the ratio of the tables' numbers of buckets is rounded: it
// is in 32.32 fixed point (low word first), rounded down for the first and up for the last.
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
