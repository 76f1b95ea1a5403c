// Writes every value of each queried key (SEARCHALL), in a read-only phase of the table.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_hash.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    SlabHash hash;
    uvec2 keys;      // one per query
    uvec2 offsets;   // one word per query: where its values begin in `values`
    uvec2 values;    // output: the values, in the order of the list, the oldest first
    uint count;
    uint capacity;   // the number of values that fit into the output
};

void main() {
    uint i = invocation_index();
    bool busy = i < count;
    K key = K(0u);
    uint offset = 0u;
    if (busy) {
        key = VKDS_LOAD(address_at(keys, i, VKDS_SHIFT));
        offset = plain_load(address_at(offsets, i, 2u));
    }
    uint bucket = slab_hash_bucket(hash, key);
    K stored = slab_hash_encode(hash, bucket, key);
    uvec2 slab = slab_hash_base(hash, bucket);
    uint place = slab_hash_place(bucket);
    for (uint visits = node_visits(hash.pool.blocks); subgroupAny(busy) && visits != 0u; visits--) {
        uint queue = tile_ballot(busy);
        uint source = queue == 0u ? 0u : uint(findLSB(queue));
        K k = tile_shuffle(stored, source);
        uint to = tile_shuffle(offset, source);
        Node node = node_load(tile_shuffle(slab, source), queue != 0u);
        uint mask = queue != 0u ? slab_lane_mask(node, k) : 0u;
        uint total = 0u;
        [[unroll]] for (uint j = 0u; j < NODE_QUADS; j++) {
            uint rank = slab_step_rank(mask, j, total);
            [[unroll]] for (uint s = 0u; s < SLAB_STEP_SLOTS; s++) {
                uint m = j * SLAB_STEP_SLOTS + s;
                if (((mask >> m) & 1u) == 0u) continue;
                uint at = to + rank++;
                if (at < capacity) VKDS_STORE(address_at(values, at, VKDS_SHIFT), slab_lane_value(node, m));
            }
        }
        uint next = slab_next(node);
        if (busy && tile_lane() == source) {
            offset += total;
            busy = !slab_link_ends(next, place, stored);
            if (busy) slab_go_on(hash.pool, next, slab, place);
        }
    }
}
