// For test/shader: epoch.glsl and epoch_slab.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "epoch_slab.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint FUNCTION = 0;   // 0: a step, 1: churn, 2: take

layout(push_constant, std430) uniform Push {
    SlabPool pool;
    EpochReclaimer reclaimer;
    uvec2 epochs;    // step: three words per subgroup, the epoch that it is in
    uvec2 slabs;     // step: a slab for each lane to retire, or SLAB_NULL. churn: cells, with a slab each
    uvec2 answers;   // churn: three words: violations seen, slabs replaced, failed allocations
    uint count;      // step: the subgroup that acts. churn: the number of cells
    uint what;       // step: 0 enter, 1 retire, 2 leave, 3 leave and clear slabs. churn: the number of rounds
};

uint subgroup_number() { return invocation_index() / gl_SubgroupSize; }

// One subgroup does one step.
void acts() {
    uvec2 at = address_add(epochs, subgroup_number() * 12u);
    Epoch e = Epoch(plain_load(at), plain_load(address_add(at, 4u)), plain_load(address_add(at, 8u)));
    if (what == 0u) e = epoch_enter(reclaimer);
    if (what == 1u) {
        uint slab = plain_load(address_at(slabs, gl_SubgroupInvocationID, 2u));
        epoch_retire_slab(pool, reclaimer, e, slab, slab != SLAB_NULL);
    }
    if (what >= 2u) epoch_leave_slabs(pool, reclaimer, e, what == 3u);
    if (subgroupElect()) {
        plain_store(at, e.number);
        plain_store(address_add(at, 4u), e.held);
        plain_store(address_add(at, 8u), e.retired);
    }
}

// The content of each word of a cell's slab.
uint cell_word(uint cell) { return cell * 0x10001u + 7u; }

void cell_write(uint slab, uint cell) {
    for (uint q = 0u; q < 8u; q++)
        coherent_store4(address_add(slab_address(pool, slab), q * 16u), uvec4(cell_word(cell)));
}

// The number of words of a slab that have another content.
uint cell_wrong(uint slab, uint cell) {
    uint wrong = 0u;
    for (uint q = 0u; q < 8u; q++) {
        uvec4 v = coherent_load4(address_add(slab_address(pool, slab), q * 16u));
        uvec4 differs = min(v ^ uvec4(cell_word(cell)), uvec4(1u));
        wrong += differs.x + differs.y + differs.z + differs.w;
    }
    return wrong;
}

// Replaces the slabs of cells by new ones, and reads others at the same time, sometimes for long.
void churn() {
    SlabCursor cursor = slab_cursor();
    uint violations = 0u, replaced = 0u, refused = 0u;
    for (uint round = 0u; round < what; round++) {
        uint hash = hash_mix(invocation_index() * what + round ^ pool.seed);
        uint cell = hash_reduce(hash, count);
        bool writes = (hash & 3u) == 0u;
        uint passes = (hash_mix(subgroup_number() * what + round) & 15u) == 0u ? 60u : 2u;
        Epoch e = epoch_enter(reclaimer);
        uint slab = slab_allocate(pool, cursor, writes);
        bool got = writes && slab != SLAB_NULL;
        if (writes && !got) refused++;
        if (got) cell_write(slab, cell);
        release_fence();
        if (got) slab = atomic_exchange(address_at(slabs, cell, 2u), slab);
        else slab = atomic_load(address_at(slabs, cell, 2u));
        for (uint pass = 0u; pass < passes; pass++) {
            if (slab != SLAB_NULL) violations += cell_wrong(slab, cell);
            acquire_fence();   // without it the loads might be done only once
        }
        replaced += got && slab != SLAB_NULL ? 1u : 0u;
        epoch_retire_slab(pool, reclaimer, e, slab, got && slab != SLAB_NULL);
        epoch_leave_slabs(pool, reclaimer, e, true);
    }
    if (violations != 0u) atomic_add(answers, violations);
    if (replaced != 0u) atomic_add(address_add(answers, 4u), replaced);
    if (refused != 0u) atomic_add(address_add(answers, 8u), refused);
}

// Allocates one slab per invocation, and counts its words that are not clear.
void takes() {
    SlabCursor cursor = slab_cursor();
    uint i = invocation_index();
    uint slab = slab_allocate(pool, cursor, i < count);
    uint wrong = 0u;
    if (slab != SLAB_NULL) {
        plain_store(address_at(slabs, i, 2u), slab);
        for (uint w = 0u; w < 32u; w++)
            wrong += plain_load(address_add(slab_address(pool, slab), 4u * w)) == ~0u ? 0u : 1u;
    }
    if (wrong != 0u) atomic_add(answers, wrong);
}

void main() {
    if (FUNCTION == 1u) churn();
    else if (FUNCTION == 2u) takes();
    else if (subgroupAll(subgroup_number() == count)) acts();
}
