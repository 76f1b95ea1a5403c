// SlabAlloc: a pool of 128-byte slabs, allocated and freed from running kernels.
//
// After Ashkiani et al., "A Dynamic Hash Table for the GPU" (2018), section V: super blocks of memory
// blocks of 1024 units; a bitmap of 32 words a block; a resident block a subgroup, changed by a hash
// when it is full. A reference is 32 bits: 8 of super block, 14 of memory block, 10 of unit.
// Unlike the original it takes all slabs that a subgroup's lanes want from one word with one atomic,
// and it gives up after a bounded number of resident blocks instead of searching for ever.
//
// A pool of one super block is the paper's light variant: a reference is then an offset from one base
// (specialization constant POOL_LIGHT), without a look into the table of super blocks.
//
// The contents of a slab are the business of those who use it. alloc.SlabPool fills fresh memory with ~0; whoever frees
// slabs for users that rely on that (the slab list does) clears them first, by coherent stores, with a release_fence by
// all lanes that cleared in front of slab_free. Who allocates a slab, or is led to it by a link, reaches it by order of
// address (memory.glsl), and so sees it clear without a fence.
#ifndef VKDS_SLAB_ALLOC_GLSL
#define VKDS_SLAB_ALLOC_GLSL

#include "constants.glsl"
#include "memory.glsl"
#include "hash.glsl"

layout(constant_id = VKDS_ID_POOL_LIGHT) const uint POOL_LIGHT = 1;
// log2 of the memory blocks in a super block (13: 1 GiB of slabs), but for a lone one, which may have fewer. 2 to 14.
layout(constant_id = VKDS_ID_POOL_SUPER_SHIFT) const uint POOL_SUPER_SHIFT = 13;

const uint SLAB_NULL = ~0u;            // no slab
const uint SLAB_SHIFT = 7u;            // log2 of a slab's bytes
// Changes of the resident block: at first by hash, often enough to come out of a full half of the pool that was laid
// out at once; then to the neighbour, so that a small pool is searched through.
const uint POOL_HASHED_CHANGES = 32u;
const uint POOL_MAX_CHANGES = 96u;
const uint POOL_MAX_LOOKS = 1024u;   // for a word with room: others may take each slab that is seen free

// A pool as the host describes it (alloc.DevicePool in Go).
struct SlabPool {
    uvec2 table;   // address of the pool's table: counters, then (units, bitmaps) addresses of each super block
    uvec2 units;   // address of the first super block's units
    uint blocks;   // memory blocks in all super blocks
    uint seed;     // varies the resident blocks between dispatches
};

// Where a subgroup allocates: uniform over its lanes. Make one with slab_cursor at a kernel's start. It is
// one word, since it lives in a register all the time: the block's bitmap is read again when it is needed.
struct SlabCursor {
    uint block;   // the resident memory block; SLAB_NULL before the first allocation
};

const uint POOL_CHANGES_AT = 0u;    // byte offsets in the table: resident changes,
const uint POOL_FAILURES_AT = 4u;   // allocations refused,
const uint POOL_SUPERS_AT = 64u;    // 16 bytes a super block

// The number that a subgroup's probes start from.
uint pool_subgroup_hash(SlabPool pool) {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    return hash_mix(group * gl_NumSubgroups + gl_SubgroupID ^ pool.seed);
}

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

// And back: the number of a slab.
uint pool_number(uint slab) { return (slab >> 24 << (POOL_SUPER_SHIFT + 10u)) + (slab & 0xffffffu); }

// The address of word `word` of the bitmap of block `block`, counted within super block `super`.
uvec2 pool_bitmap_word(SlabPool pool, uint super, uint block, uint word) {
    uvec2 bitmaps = plain_load2(address_add(pool.table, POOL_SUPERS_AT + super * 16u + 8u));
    return address_add(bitmaps, block * 128u + word * 4u);
}

// The place of a mask's set bit number n, from 0; the mask has more than n.
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

// Whether it is one that is allocated.
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

// Allocates one slab for each lane that wants one; SLAB_NULL where the pool has none to give after
// POOL_MAX_CHANGES resident blocks (every block, in a pool of up to 64). Collective over the subgroup.
uint slab_allocate(SlabPool pool, inout SlabCursor cursor, bool want) {
    uint slab = SLAB_NULL;
    uint changes = 0u;
    uint blocks_in_super = 1u << POOL_SUPER_SHIFT;
    bool gave_up = pool.blocks == 0u;
    uint start = pool_subgroup_hash(pool);
    if (subgroupAll(cursor.block == SLAB_NULL)) cursor.block = hash_reduce(start, pool.blocks);
    uint word = start & 31u;   // the word of the bitmap in use, and
    uint view = ~0u;           // that word as last seen: no room at first
    uint looks = 0u;
    for (;;) {   // until gave_up, at the latest
        uvec4 waiting = subgroupBallot(want && slab == SLAB_NULL);
        uint wanted = subgroupBallotBitCount(waiting);
        if (wanted == 0u || gave_up) break;
        uint super = cursor.block >> POOL_SUPER_SHIFT;
        uint block = cursor.block & (blocks_in_super - 1u);

        // The branch is asked of the subgroup, though all lanes agree: what a compiler knows to be
        // uniform it compiles without a thought of lanes apart, here and in the loops around.
        if (subgroupAll(view == ~0u)) {
            // The word is full: find one with room in the resident block, all lanes looking.
            gave_up = ++looks >= POOL_MAX_LOOKS;   // a bound of the loop's own costs 6%
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
                uint hashed = hash_reduce(hash_mix(start + changes * 0x9e3779b9u), pool.blocks);
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

// Frees the slab of each lane that says so. No other invocation may still reach it, and what was written to it is
// behind a release_fence. Collective over the subgroup: lanes whose slabs share a word of the bitmap free them with one
// atomic.
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
