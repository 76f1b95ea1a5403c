// Lists the slabs of a hash table, bucket by bucket. A first dispatch counts the slabs of each bucket, and a second one
// (WRITE) writes their cells.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_hash.glsl"
#include "invocation.glsl"
#include "scene.glsl"

layout(constant_id = 16) const uint WRITE = 0;

layout(push_constant, std430) uniform Push {
    SlabHash hash;
    uvec2 firsts;   // a word per bucket. Output: how many slabs it has; with WRITE, input: the index of its first one
    uvec2 cells;    // output, with WRITE
    uvec2 fills;    // the same: a word per slab, the slots in use
    uvec2 before;   // the scene before the last step; 0: there is none, or it had another number of buckets
};

// The slab of a bucket's list before the last step, or 0 if the list was shorter. Pairs don't move meanwhile.
uvec2 slab_before(uint bucket, uint i) {
    Row buckets = scene_row(before, 0u), slabs = scene_row(before, 1u);
    uint first = plain_load_at(buckets.firsts, bucket);
    if (i >= plain_load_at(buckets.firsts, bucket + 1u) - first) return uvec2(0u);
    return scene_cell(slabs.cells, first + i).node;
}

void list(uint at, uvec2 slab, uint bucket, uint i) {
    Cell cell = Cell(slab, 0u, 0u, 0u, 0u);
    uvec2 old = uvec2(0u);
    if (before != uvec2(0u)) old = slab_before(bucket, i);
    for (uint s = 0u; s < SLAB_SLOTS; s++) {
        P pair = VKDS_SLOT_LOAD(slab_slot(slab, s));
        bool live = pair.VKDS_KEY != SLAB_TOMBSTONE && pair.VKDS_KEY != SLAB_EMPTY;
        if (live) cell.live |= 1u << s;
        else if (pair.VKDS_KEY == SLAB_TOMBSTONE) cell.gone |= 1u << s;
        if (!live || before == uvec2(0u)) continue;
        bool same = false;
        if (old != uvec2(0u)) same = VKDS_SLOT_LOAD(slab_slot(old, s)) == pair;
        if (!same) cell.fresh |= 1u << s;
    }
    scene_store(cells, at, cell);
    plain_store_at(fills, at, uint(bitCount(cell.live)));
}

void main() {
    uint bucket = invocation_index();
    if (bucket >= hash.buckets) return;
    uvec2 slab = slab_hash_base(hash, bucket);
    uint place = slab_hash_place(bucket);
    uint at = WRITE != 0u ? plain_load_at(firsts, bucket) : 0u, found = 0u;
    for (uint left = (hash.pool.blocks << 10) + 3u; left != 0u; left--) {
        if (WRITE != 0u) list(at + found, slab, bucket, found);
        found++;
        uint next = plain_load(address_add(slab, SLAB_NEXT_AT));
        if (slab_filters(place) ? slab_next_is_shared(place) : !pool_has(hash.pool, next)) break;
        slab_go_on(hash.pool, next, slab, place);
    }
    if (WRITE == 0u) plain_store_at(firsts, bucket, found);
}
