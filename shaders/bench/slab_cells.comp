// Gives each cell a slab, or counts those whose slab isn't what it is to be: for slab_replace.comp.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "epoch_slab.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    SlabPool pool;
    EpochReclaimer reclaimer;
    uvec2 cells;
    uvec2 wrong;    // a counter
    uint count;
    uint rounds;    // 0: gives
    uint further;   // of the first word
};

void main() {
    SlabCursor cursor = slab_cursor();
    uint i = invocation_index(), slab = SLAB_NULL, wrongs = 0u;
    if (rounds == 0u) {
        slab = slab_allocate(pool, cursor, i < count);
        if (i < count) plain_store(address_at(cells, i, 2u), slab);
    } else if (i < count) {
        slab = plain_load(address_at(cells, i, 2u));
    }
    if (i >= count) return;
    for (uint w = 0u; w < 32u; w++) {
        uvec2 word = address_add(slab_address(pool, slab), 4u * w);
        uint is = w == 0u ? further : i;
        if (rounds == 0u) plain_store(word, is);
        else wrongs += plain_load(word) == is ? 0u : 1u;
    }
    if (wrongs != 0u) atomic_add(wrong, wrongs);
}
