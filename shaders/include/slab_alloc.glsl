// SlabAlloc: a pool of 128-byte slabs, allocated and freed from running kernels.
//
// After Ashkiani et al., "A Dynamic Hash Table for the GPU" (2018), section V. The pool has super blocks, of
// memory blocks, of 1024 units. Each memory block has a bitmap of 32 words. Each subgroup allocates from its
// resident block, and changes to another one, chosen by a hash, when it is full. A reference has 32 bits:
// 8 of super block, 14 of memory block, 10 of unit. There are two differences from the paper: one atomic
// allocates slabs for several lanes from one bitmap word; and the search ends after a bounded number of blocks.
//
// A pool of one super block is the paper's light variant (specialization constant POOL_LIGHT): a reference is
// then an offset from one base, and the table of super blocks is not read.
//
// The allocator doesn't clear slabs. alloc.SlabPool fills new memory with ~0, and the slab list, for one, expects ~0 in
// a slab that it allocates. So code that frees slabs for such users first clears them by coherent stores, and then all
// lanes that cleared one execute a release_fence before slab_free. An invocation that allocates the slab, or follows a
// link to it, sees it clear without a fence, because of the order by address (memory.glsl).
#ifndef VKDS_SLAB_ALLOC_GLSL
#define VKDS_SLAB_ALLOC_GLSL

#include "constants.glsl"
#include "memory.glsl"
#include "hash.glsl"

layout(constant_id = VKDS_ID_POOL_LIGHT) const uint POOL_LIGHT = 1;
// log2 of the memory blocks in a super block, 2 to 14 (13: 1 GiB of slabs). A pool's only super block may have fewer.
layout(constant_id = VKDS_ID_POOL_SUPER_SHIFT) const uint POOL_SUPER_SHIFT = 13;

const uint SLAB_NULL = ~0u;            // no slab
const uint SLAB_SHIFT = 7u;            // log2 of a slab's bytes
// The limits of changes of the resident block. The first ones choose a block by hash, often enough to find room if a
// contiguous half of the pool is full. The others take the next block, so that a small pool is searched completely.
const uint POOL_HASHED_CHANGES = 32u;
const uint POOL_MAX_CHANGES = 96u;
const uint POOL_MAX_LOOKS = 1024u;   // searches for a word with room: others may take the free slabs each time

// A pool as the host describes it (alloc.PoolDescription in Go).
struct SlabPool {
    uvec2 table;   // address of the pool's table: counters, then (units, bitmaps) addresses of each super block
    uvec2 units;   // address of the first super block's units
    uint blocks;   // memory blocks in all super blocks
    uint seed;     // varies the resident blocks between dispatches. The lower 6 bits say how many 256ths of the pool,
                   // the last ones, are set aside by the host (slabs.Pool.SetAside), and have no free slabs
};

// The place where a subgroup allocates: uniform over its lanes. Make one with slab_cursor at a kernel's start.
// It is one word because it stays in a register all the time. The bitmap is read again when it is needed.
struct SlabCursor {
    uint block;   // the resident memory block; SLAB_NULL before the first allocation
};

const uint POOL_CHANGES_AT = 0u;    // byte offsets in the table: resident changes,
const uint POOL_FAILURES_AT = 4u;   // allocations refused,
const uint POOL_SUPERS_AT = 64u;    // 16 bytes a super block

// A hash of the subgroup's index and the pool's seed, from which its search starts.
uint pool_subgroup_hash(SlabPool pool) {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    return hash_mix(group * gl_NumSubgroups + gl_SubgroupID ^ pool.seed);
}

// The blocks that a search by hash chooses from.
uint pool_open_blocks(SlabPool pool) { return pool.blocks - (pool.blocks * (pool.seed & 63u) >> 8); }

SlabCursor slab_cursor() { return SlabCursor(SLAB_NULL); }

// The address of a slab.
uvec2 slab_address(SlabPool pool, uint slab) {
    if (POOL_LIGHT != 0u) return address_at(pool.units, slab, SLAB_SHIFT);
    uvec2 units = plain_load2(address_add(pool.table, POOL_SUPERS_AT + (slab >> 24) * 16u));
    return address_at(units, slab & 0xffffffu, SLAB_SHIFT);
}

// The reference to slab i of a pool, counted over all its super blocks: those of one super block follow one another,
// with a gap before the next.
uint pool_slab(uint i) {
    if (POOL_LIGHT != 0u) return i;
    uint shift = POOL_SUPER_SHIFT + 10u;
    return (i >> shift) << 24 | (i & ((1u << shift) - 1u));
}

// The number of a slab, from its reference: the inverse of pool_slab.
uint pool_number(uint slab) { return (slab >> 24 << (POOL_SUPER_SHIFT + 10u)) + (slab & 0xffffffu); }

// The address of word `word` of the bitmap of block `block`, counted within super block `super`.
uvec2 pool_bitmap_word(SlabPool pool, uint super, uint block, uint word) {
    uvec2 bitmaps = plain_load2(address_add(pool.table, POOL_SUPERS_AT + super * 16u + 8u));
    return address_add(bitmaps, block * 128u + word * 4u);
}

// The position of the n-th set bit of a mask, counted from 0. The mask must have more than n set bits.
uint pool_nth_bit(uint mask, uint n) {
    uint place = 0u;
    [[unroll]] for (uint width = 16u; width != 0u; width >>= 1) {
        uint below = uint(bitCount((mask >> place) & ((1u << width) - 1u)));
        bool above = n >= below;
        place += above ? width : 0u;
        n -= above ? below : 0u;
    }
    return place;
}

// Whether a word is the reference to a slab of the pool.
bool pool_has(SlabPool pool, uint slab) {
    uint number = pool_number(slab);
    return number < pool.blocks << 10 && pool_slab(number) == slab;
}

// Whether a word is the reference to an allocated slab of the pool.
bool pool_holds(SlabPool pool, uint slab) {
    if (!pool_has(pool, slab)) return false;
    uint block = (slab & 0xffffffu) >> 10;
    return (plain_load(pool_bitmap_word(pool, slab >> 24, block, slab >> 5 & 31u)) >> (slab & 31u) & 1u) != 0u;
}

// The n lowest set bits of a mask (all of them, if it has fewer).
uint pool_lowest_bits(uint mask, uint n) {
    uint lowest = mask & ((1u << pool_nth_bit(mask, n)) - 1u);
    return n >= uint(bitCount(mask)) ? mask : lowest;
}

// Allocates one slab for each lane with `want`. Returns its reference, or SLAB_NULL if no room was found in
// POOL_MAX_CHANGES resident blocks (in a pool of up to 64 blocks: in any block). Collective over the subgroup.
uint slab_allocate(SlabPool pool, inout SlabCursor cursor, bool want) {
    uint slab = SLAB_NULL;
    uint changes = 0u;
    uint blocks_in_super = 1u << POOL_SUPER_SHIFT;
    bool gave_up = pool.blocks == 0u;
    uint start = pool_subgroup_hash(pool);
    if (subgroupAll(cursor.block == SLAB_NULL)) cursor.block = hash_reduce(start, pool_open_blocks(pool));
    uint word = start & 31u;   // the index of the bitmap word in use
    uint view = ~0u;           // that word as last seen; ~0 (full) at first
    uint looks = 0u;
    for (;;) {   // until gave_up, at the latest
        uvec4 waiting = subgroupBallot(want && slab == SLAB_NULL);
        uint wanted = subgroupBallotBitCount(waiting);
        if (wanted == 0u || gave_up) break;
        uint super = cursor.block >> POOL_SUPER_SHIFT;
        uint block = cursor.block & (blocks_in_super - 1u);

        // All lanes agree. subgroupAll tells the compiler so: it then compiles this branch, and the loops
        // around it, without divergence.
        if (subgroupAll(view == ~0u)) {
            // The word is full: all lanes search the resident block for one with room.
            gave_up = ++looks >= POOL_MAX_LOOKS;   // a bound in the loop's condition costs 6%
            uint mine = 0u, bits = ~0u;
            for (uint i = 0u; i < 32u; i += gl_SubgroupSize) {
                uint w = (word + i + gl_SubgroupInvocationID) & 31u;
                uint seen = atomic_load(pool_bitmap_word(pool, super, block, w));
                mine = bits == ~0u ? w : mine;
                bits = bits == ~0u ? seen : bits;
            }
            if (subgroupAny(bits != ~0u)) {
                uint lane = subgroupBallotFindLSB(subgroupBallot(bits != ~0u));
                word = subgroupShuffle(mine, lane);
                view = subgroupShuffle(bits, lane);
            } else {
                changes++;
                gave_up = gave_up || changes >= POOL_MAX_CHANGES || changes >= pool.blocks + POOL_HASHED_CHANGES;
                uint hashed = hash_reduce(hash_mix(start + changes * 0x9e3779b9u), pool_open_blocks(pool));
                uint neighbour = cursor.block + 1u >= pool.blocks ? 0u : cursor.block + 1u;
                cursor.block = changes <= POOL_HASHED_CHANGES ? hashed : neighbour;
            }
        } else {
            uint take = pool_lowest_bits(~view, wanted);
            uint before = 0u;
            if (subgroupElect()) before = atomic_or(pool_bitmap_word(pool, super, block, word), take);
            before = subgroupBroadcastFirst(before);
            uint got = take & ~before;
            view = before | take;
            uint rank = subgroupBallotExclusiveBitCount(waiting);
            if (want && slab == SLAB_NULL && rank < uint(bitCount(got)))
                slab = (super << 24) | (block << 10) | (word << 5) | pool_nth_bit(got, rank);
        }
    }
    if (changes != 0u && subgroupElect()) atomic_add(address_add(pool.table, POOL_CHANGES_AT), changes);
    if (want && slab == SLAB_NULL) atomic_add(address_add(pool.table, POOL_FAILURES_AT), 1u);
    return slab;
}

// Frees the slab of each lane with `want`. No other invocation may still reach it, and a release_fence must come after
// the last write to it. Collective over the subgroup: lanes whose slabs share a bitmap word free them with one atomic.
void slab_free(SlabPool pool, uint slab, bool want) {
    uint key = slab >> 5;
    uint bit = 1u << (slab & 31u);
    for (uint i = 0u; i < 2u && subgroupAny(want); i++) {
        uint first = subgroupShuffle(key, subgroupBallotFindLSB(subgroupBallot(want)));
        bool same = want && key == first;
        uint bits = subgroupOr(same ? bit : 0u);
        if (subgroupElect())
            atomic_and(pool_bitmap_word(pool, first >> 19, (first >> 5) & 0x3fffu, first & 31u), ~bits);
        want = want && !same;
    }
    if (want) atomic_and(pool_bitmap_word(pool, slab >> 24, (slab >> 10) & 0x3fffu, (slab >> 5) & 31u), ~bit);
}

#endif
