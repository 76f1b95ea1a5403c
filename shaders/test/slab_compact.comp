// For test/shader: slab_compact.glsl, with a tile per list.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../slabhash/slab_compact.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint FUNCTION = 0;   // 0: writer, 1: slab_chain_free

layout(push_constant, std430) uniform Push {
    SlabPool pool;    // for slab_chain_free
    uvec2 from;       // writer: the slabs of each list; slab_chain_free: the reference to each list's first slab
    uvec2 to;         // writer: as many slabs for the result, or the same ones
    uvec2 ends;       // writer, output: two words per list, the number of full slabs before the last one, and of slots
                      // in use in that one
    uint lists;
    uint length;      // slabs per list
};

void main() {
    uint tile = invocation_index() / TILE;
    bool there = tile < lists;
    if (FUNCTION == 1u) {
        slab_chain_free(pool, there ? plain_load(address_at(from, tile, 2u)) : SLAB_NULL, true);
        return;
    }
    uint first = tile * length;
    uint filled = 0u;
    SlabWriter writer = SlabWriter(address_at(to, first, SLAB_SHIFT), 0u);
    for (uint i = 0u; i < length; i++) {
        Node node = node_load(address_at(from, first + i, SLAB_SHIFT), there);
        uint mask = there ? slab_live_mask(node) : 0u;
        SlabRanks ranks = slab_ranks(mask);
        bool crosses = slab_writer_crosses(writer, ranks);
        filled += crosses ? 1u : 0u;
        slab_writer_append(writer, node, mask, ranks, address_at(to, first + filled, SLAB_SHIFT));
    }
    slab_writer_finish(writer, there);
    if (there && tile_lane() == 0u) plain_store2(address_at(ends, tile, 3u), uvec2(filled, writer.filled));
}
