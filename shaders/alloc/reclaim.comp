// Frees all retired slabs: those left in limbo bags, and those that found no room in a bag. No kernel that may read
// them may be running.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "epoch_slab.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    SlabPool pool;
    EpochReclaimer reclaimer;
    uvec2 totals;   // four counters, ReclaimerStats of alloc/reclaimer.go: Freed, Left, Kept, Stuck
    uint segments;  // the number of segments of 2^EPOCH_KEPT_SHIFT slabs in the pool
    uint clear;     // 1: set all words of a freed slab to ~0
};

const uint FREED = 0u, LEFT = 1u, KEPT = 2u, STUCK = 3u;

void count(uint total, uint n) {
    if (n != 0u && subgroupElect()) atomic_add(address_at(totals, total, 2u), n);
}

uint elected_load(uvec2 address) {
    uint v = 0u;
    if (subgroupElect()) v = plain_load(address);
    return subgroupBroadcastFirst(v);
}

void free_slabs(uint slab, bool want) {
    if (clear != 0u) {
        epoch_clear_slab(pool, slab, want);
        release_fence();
    }
    slab_free(pool, slab, want);
}

// Empties one bag of a stripe. With bag 0 it also adds up and clears the other counters of the stripe.
void empty_bag(uint stripe, uint number) {
    uvec2 at = epoch_count(reclaimer, stripe, number);
    EpochBag bag = EpochBag(epoch_words(reclaimer, stripe, number), min(elected_load(at), reclaimer.bag), 0u);
    count(LEFT, bag.count);
    while (epoch_more(bag)) {
        uint slab;
        bool mine = epoch_next(bag, slab);
        free_slabs(slab, mine);
    }
    if (subgroupElect()) plain_store(at, 0u);
    if (number != 0u) return;
    uvec2 line = epoch_line(reclaimer, stripe);
    count(FREED, elected_load(address_add(line, EPOCH_FREED_AT)));
    uint announced = elected_load(address_add(line, EPOCH_ACTIVE_AT));
    count(STUCK, (announced & 0xffffu) + (announced >> 16));
    if (subgroupElect()) {
        plain_store(address_add(line, EPOCH_FREED_AT), 0u);
        plain_store(address_add(line, EPOCH_ACTIVE_AT), 0u);
    }
}

void free_marked(uint segment) {
    uvec4 kept = plain_load4(address_add(reclaimer.state, EPOCH_KEPT_AT));
    uvec2 flag = address_at(kept.xy, segment, 2u);
    if (elected_load(flag) == 0u) return;
    uint n = 0u;
    for (uint first = 0u; first < 1u << (EPOCH_KEPT_SHIFT - 5u); first += gl_SubgroupSize) {
        uint word = (segment << (EPOCH_KEPT_SHIFT - 5u)) + first + gl_SubgroupInvocationID;
        uint marks = plain_load(address_at(kept.zw, word, 2u));
        if (marks != 0u) plain_store(address_at(kept.zw, word, 2u), 0u);
        n += uint(bitCount(marks));
        while (subgroupAny(marks != 0u)) {   // at most 32 rounds
            free_slabs(pool_slab(word << 5 | uint(findLSB(marks)) & 31u), marks != 0u);
            marks &= marks - 1u;
        }
    }
    count(KEPT, subgroupAdd(n));
    if (subgroupElect()) plain_store(flag, 0u);
}

// Each subgroup takes a bag or a segment at a time.
void main() {
    uint bags = reclaimer.stripes * EPOCH_CLASSES;
    uint groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    uint subgroups = groups * gl_NumSubgroups;
    for (uint i = invocation_index() / gl_SubgroupSize; i < bags + segments; i += subgroups) {
        if (i < bags) empty_bag(i / EPOCH_CLASSES, i % EPOCH_CLASSES);
        else free_marked(i - bags);
    }
}
