// Bloom filter: a set of keys that may report a key that is not there, and never misses one that is.
//
// The filter is blocked (Putze, Sanders, Singler, Cache-, Hash- and Space-Efficient Bloom Filters, 2007, section 3): a
// key has all its bits in one block of 32 bytes, so that a lookup reads memory at one place. A block is eight words,
// and a key has one bit in each, as in the split block Bloom filter of Apache Parquet's specification, whose odd
// multipliers are used.
//
// bloom_filter_insert may run concurrently with itself. bloom_filter_contains is for read-only phases, in which nobody
// inserts.
#ifndef VKDS_BLOOM_FILTER_GLSL
#define VKDS_BLOOM_FILTER_GLSL

#include "width.glsl"
#include "hash.glsl"
#include "tile.glsl"

struct BloomFilter {
    uvec2 blocks;   // address of the blocks, a multiple of 32
    uint count;     // number of blocks
};

// The odd multipliers of the words of a block.
const uvec4 BLOOM_FILTER_FIRST = uvec4(0x47b6137bu, 0x44974d91u, 0x8824ad5bu, 0xa2b7289du);
const uvec4 BLOOM_FILTER_LAST = uvec4(0x705495c7u, 0x2df1424bu, 0x9efc4947u, 0x5c6bfb31u);

// A second hash function of 32 bits, a bijection with other constants than hash_mix, also one of C. Wellons's.
uint bloom_filter_mix(uint x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}

// Hashes a key to two words: .x chooses the block, .y the bits in it. Different keys have different pairs of words: a
// key of 64 bits passes through a Feistel network, which loses nothing.
uvec2 bloom_filter_hash(uint key) {
    uint h = hash_mix(key);
    return uvec2(h, bloom_filter_mix(h));
}
uvec2 bloom_filter_hash(uvec2 key) {
    uint h = hash_mix(key);
    return uvec2(h, bloom_filter_mix(key.x ^ h));
}

// The block of a hash.
uvec2 bloom_filter_block(BloomFilter bloom, uvec2 hash) {
    return address_at(bloom.blocks, hash_reduce(hash.x, bloom.count), 5u);
}

// The bits of a hash in words with these multipliers.
uvec4 bloom_filter_bits(uvec2 hash, uvec4 multipliers) { return uvec4(1u) << (hash.y * multipliers >> 27); }
uint bloom_filter_bit(uvec2 hash, uint multiplier) { return 1u << (hash.y * multiplier >> 27); }

// Reports whether the key may be in the filter. The answer is true for each key that was inserted. Each lane may call
// it by itself.
bool bloom_filter_contains(BloomFilter bloom, K key) {
    uvec2 hash = bloom_filter_hash(key);
    uvec2 block = bloom_filter_block(bloom, hash);
    uvec4 first = plain_load4(block), last = plain_load4(address_add(block, 16u));
    uvec4 missing = bloom_filter_bits(hash, BLOOM_FILTER_FIRST) & ~first |
                    bloom_filter_bits(hash, BLOOM_FILTER_LAST) & ~last;
    return missing == uvec4(0u);
}

// Inserts the keys of all lanes that are enabled. Collective over the subgroup.
//
// The lanes of a tile set the bits of one key after the other, each in words of its own, so that the atomics of a key
// are in one sector. That is twice as fast as if each lane sets all bits of its key. Bits that are set already are left
// alone: reads of one sector by many lanes are a tenth of the work of atomics, and many keys of a batch may be equal.
// The read may be stale, and then the atomic sets the bit again.
void bloom_filter_insert(BloomFilter bloom, K key, bool enabled) {
    uvec2 hash = bloom_filter_hash(key);
    uint busy = tile_ballot(enabled);
    for (uint source = 0u; source < TILE; source++) {
        uvec2 of = tile_shuffle(hash, source);
        if ((busy >> source & 1u) != 0u) {
            uvec2 block = bloom_filter_block(bloom, of);
            for (uint word = tile_lane(); word < 8u; word += TILE) {
                uint multiplier = word < 4u ? BLOOM_FILTER_FIRST[word & 3u] : BLOOM_FILTER_LAST[word & 3u];
                uint bit = bloom_filter_bit(of, multiplier);
                uvec2 at = address_add(block, 4u * word);
                if ((atomic_load(at) & bit) == 0u) atomic_or(at, bit);
            }
        }
    }
}

#endif
