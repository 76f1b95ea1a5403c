// FLUSH of a table whose buckets share slabs: compacts each group in place and frees the slabs that it no longer needs.
// Nothing else may run on the table.
//
// Each tile reads the slabs of one group, those of its buckets first and those of its chain last. It moves each key to
// the first slab of the key's list that has room. That slab is never a later one than the slab that was read, and the
// keys of a list keep their order.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_compact.glsl"
#include "group.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint SHARED = 1;   // 0: the pool has no other users

layout(push_constant, std430) uniform Push {
    SlabHash hash;
    uint first;   // the groups first … first+count-1
    uint count;
};

uvec2 base;      // the group's first slab
uvec4 used;      // the slots in use of the slabs before the last place, five bits each

uvec2 slab_at(uint place) { return address_at(base, place, SLAB_SHIFT); }

uint used_at(uint place) {
    uint word = 0u;
    [[unroll]] for (uint i = 0u; i < 4u; i++) word = place / 6u == i ? used[i] : word;
    return (word >> (place % 6u * 5u)) & 31u;
}

void use_at(uint place) {
    [[unroll]] for (uint i = 0u; i < 4u; i++) used[i] += place / 6u == i ? 1u << (place % 6u * 5u) : 0u;
}

SlabWriter writer;   // at the last place, or in the chain
uint tail;           // the reference to the writer's slab; SLAB_NULL at the last place
uint behind;         // the reference to the slab after it

// The place of the own slab of a key that was read at a place. What that place tells comes first: if memory is damaged,
// a key still moves to no later slab.
uint own_of(K stored, uint bucket, uint at) {
    uint own = slab_hash_place(slab_hash_bucket(hash, slab_hash_encode(hash, bucket, stored)));
    return at < SLAB_OF_FOUR ? at : at < SLAB_OF_ALL ? (at - SLAB_OF_FOUR) << 2 | own & 3u : own;
}

// The place for a key, the same for all lanes of the tile. It sets `slab` and `slot`.
uint place_for(uint own, bool enabled, out uvec2 slab, out uint slot) {
    uint of_four = slab_next_place(own);
    uint place = used_at(own) < SLAB_SLOTS ? own : used_at(of_four) < SLAB_SLOTS ? of_four : SLAB_OF_ALL;
    if (place < SLAB_OF_ALL) {
        slab = slab_at(place);
        slot = used_at(place);
        if (enabled) use_at(place);
    } else {
        if (enabled && writer.filled == SLAB_SLOTS) {
            if (tile_lane() == 0u) plain_store(address_add(writer.slab, SLAB_AUX_AT), slab_aux(SLAB_SLOTS));
            writer = SlabWriter(slab_address(hash.pool, behind), 0u);
            tail = behind;
            behind = plain_load(address_add(writer.slab, SLAB_NEXT_AT));
        }
        slab = writer.slab;
        slot = writer.filled;
        writer.filled += uint(enabled);
    }
    return place;
}

void main() {
    uint tile = invocation_index() / TILE, group = first + tile, bucket = group << SLAB_GROUP_SHIFT;
    bool mine = tile < count && bucket < hash.buckets;
    base = slab_hash_base(hash, bucket);
    used = uvec4(0u);
    writer = SlabWriter(slab_at(SLAB_OF_ALL), 0u);
    tail = SLAB_NULL;
    behind = SLAB_NULL;
    // The filters begin anew.
    for (uint place = tile_lane(); place < SLAB_OF_ALL; place += TILE)
        if (mine) atomic_store(address_add(slab_at(place), SLAB_NEXT_AT), ~0u);
    full_fence();
    bool busy = mine;
    uvec2 slab = base;                       // that is read,
    uint at = 0u;                            // its place,
    uint left = hash.pool.blocks << 10;      // and the slabs that the chain may have
    while (subgroupAny(busy)) {
        Node node = node_load(slab, busy);
        uint live = busy ? slab_live_mask(node) : 0u;
        uint next = slab_next(node);
        if (busy && at == SLAB_OF_ALL && writer.slab == slab) behind = next;
        [[unroll]] for (uint j = 0u; j < NODE_QUADS; j++) {
            for (uint lane = 0u; lane < TILE; lane++) {
                [[unroll]] for (uint s = 0u; s < SLAB_STEP_SLOTS; s++) {
                    uint m = j * SLAB_STEP_SLOTS + s;
                    bool is = tile_shuffle((live >> m) & 1u, lane) != 0u;
                    K stored = tile_shuffle(slab_lane_key(node, m), lane);
                    uint own = own_of(stored, bucket, at);
                    uvec2 to;
                    uint slot, place = place_for(own, is, to, slot);
                    if (is && lane == tile_lane()) {
                        slab_write(to, slot, node, m);
                        group_pass_to(base, own, place, stored);
                    }
                }
            }
        }
        if (busy) {
            if (at < SLAB_OF_ALL) {
                at++;
                slab = slab_at(at);
            } else {
                busy = next != SLAB_NULL && left != 0u;
                left--;
                if (busy) slab = slab_address(hash.pool, next);
            }
        }
    }
    for (uint place = 0u; place < SLAB_OF_ALL; place++) {
        uint filled = used_at(place);
        bool full = filled == SLAB_SLOTS;   // its link may be a filter, and stays
        slab_writer_finish(SlabWriter(slab_at(place), filled), mine && !full);
        if (mine && full && tile_lane() == 0u)
            plain_store(address_add(slab_at(place), SLAB_AUX_AT), slab_aux(SLAB_SLOTS));
    }
    if (mine && tile_lane() == 0u) plain_store(slab_hash_tail(hash, group), tail);
    slab_writer_finish(writer, mine);
    slab_chain_free(hash.pool, mine ? behind : SLAB_NULL, SHARED != 0u);
}
