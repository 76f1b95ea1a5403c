// For test/shader: slab_alloc.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_alloc.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint FUNCTION = 0;   // 0: allocate, 1: free, 2: address, 3: churn

layout(push_constant, std430) uniform Push {
    SlabPool pool;
    uvec2 wants;     // one word per invocation; bit r: whether it allocates (frees, churns) in round r
    uvec2 slabs;     // one reference per invocation and round: output of allocate, input of free and address
    uvec2 answers;   // address: one pair per invocation. churn: two words: violations seen, failed allocations
    uint count;      // the number of invocations
    uint rounds;
};

// Allocates a slab, owns it for a while and frees it, again and again. A slab holds the number of its owner, or ~0 if
// it is free. If two own a slab at the same time, one of them sees it.
void churn(uint i, uint mine) {
    SlabCursor cursor = slab_cursor();
    uint held = SLAB_NULL;
    uint violations = 0u, refused = 0u;
    for (uint r = 0u; r < rounds; r++) {
        bool acts = ((mine >> (r & 31u)) & 1u) != 0u;
        bool want = acts && held == SLAB_NULL;
        bool release = acts && held != SLAB_NULL;
        if (release && atomic_exchange(slab_address(pool, held), ~0u) != i) violations++;
        release_fence();   // so that the next owner sees that it is free
        slab_free(pool, held, release);
        if (release) held = SLAB_NULL;
        uint slab = slab_allocate(pool, cursor, want);
        acquire_fence();
        if (want && slab == SLAB_NULL) refused++;
        if (!want && slab != SLAB_NULL) violations++;
        if (slab != SLAB_NULL) {
            held = slab;
            if (atomic_exchange(slab_address(pool, held), i) != ~0u) violations++;
        }
    }
    bool release = held != SLAB_NULL;
    if (release && atomic_exchange(slab_address(pool, held), ~0u) != i) violations++;
    release_fence();
    slab_free(pool, held, release);
    if (violations != 0u) atomic_add(answers, violations);
    if (refused != 0u) atomic_add(address_add(answers, 4u), refused);
}

void main() {
    uint i = invocation_index();
    bool there = i < count;
    uint mine = there ? plain_load(address_at(wants, i, 2u)) : 0u;
    if (FUNCTION == 0u) {
        SlabCursor cursor = slab_cursor();
        for (uint r = 0u; r < rounds; r++) {
            uint slab = slab_allocate(pool, cursor, ((mine >> r) & 1u) != 0u);
            if (there) plain_store(address_at(slabs, r * count + i, 2u), slab);
        }
    } else if (FUNCTION == 1u) {
        for (uint r = 0u; r < rounds; r++) {
            uint slab = there ? plain_load(address_at(slabs, r * count + i, 2u)) : SLAB_NULL;
            slab_free(pool, slab, ((mine >> r) & 1u) != 0u);
        }
    } else if (FUNCTION == 2u) {
        if (there) plain_store2(address_at(answers, i, 3u), slab_address(pool, plain_load(address_at(slabs, i, 2u))));
    } else {
        churn(i, mine);
    }
}
