// Pack: collects the flagged keys of a part in shared memory, without gaps, so that they are written together.
#ifndef VKDS_PACK_GLSL
#define VKDS_PACK_GLSL

#include "segment.glsl"
#include "workgroup_sum.glsl"

// Of keys of 64 bits, first all low words, then all high words.
shared uint packed_words[WORKGROUP * QUADS * 4u];

// `flags` has a bit for each key of the lane's quads. rank[q] becomes the number of flagged keys of the part before the
// lane's quad q. Returns the number of flagged keys of the part. Collective over the workgroup. A barrier must separate
// two calls.
uint pack_ranks(uint flags[QUADS], out uint rank[QUADS]) {
    uint count[QUADS];
    [[unroll]] for (uint q = 0u; q < QUADS; q++) count[q] = uint(bitCount(flags[q]));
    uint total;
    uint before = workgroup_before(segment_scan(count, rank), total);
    [[unroll]] for (uint q = 0u; q < QUADS; q++) rank[q] += before;
    return total;
}

#if VKDS_KEY_BITS == 64
void packed_write(uint at, K key) {
    packed_words[at] = key.x;
    packed_words[PART + at] = key.y;
}
K packed_key(uint at) { return K(packed_words[at], packed_words[PART + at]); }
#else
void packed_write(uint at, K key) { packed_words[at] = key; }
K packed_key(uint at) { return packed_words[at]; }
#endif

// Writes the flagged keys of v to packed_words, by their ranks. A barrier must follow before they are read.
void pack_keys(uint flags[QUADS], uint rank[QUADS], uvec4 v[QUADS]) {
    [[unroll]] for (uint q = 0u; q < QUADS; q++) {
        uint at = rank[q];
        [[unroll]] for (uint c = 0u; c < QUAD_KEYS; c++)
            if ((flags[q] & 1u << c) != 0u) packed_write(at++, quad_key(v[q], c));
    }
}

// The same with the indices of the flagged keys. The segment begins at key `first`.
void pack_places(uint flags[QUADS], uint rank[QUADS], uint first) {
    [[unroll]] for (uint q = 0u; q < QUADS; q++) {
        uint at = rank[q];
        [[unroll]] for (uint c = 0u; c < QUAD_KEYS; c++)
            if ((flags[q] & 1u << c) != 0u) packed_words[at++] = first + segment_key(q) + c;
    }
}

// Writes the first `count` packed keys to an array, from key `first` on.
void pack_store(uvec2 array, uint first, uint count) {
    for (uint r = workgroup_lane(); r < count; r += WORKGROUP) key_store_at(array, first + r, packed_key(r));
}

// The flags of the quad at key `at`, without those of keys from n on.
uint pack_below(uint flags, uint at, uint n) {
    if (at + QUAD_KEYS <= n) return flags;
    return at < n ? flags & ((1u << (n - at)) - 1u) : 0u;
}

#endif
