// Brings keys to their parts, a tile a workgroup. The tile counts its keys of each part and takes so many of the part's
// places by one atomic: in which order tiles come to a part, nothing says.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "partition.glsl"
#include "workgroup_sum.glsl"

layout(constant_id = 3) const uint ITEMS = 8;   // keys a lane

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 out_keys;
    uvec2 places;     // out: where each key went
    uvec2 range;
    uvec2 counters;   // of each part: where its next key goes
    uint bits;
    Length length;
};

shared uint firsts[PARTITION_MOST];   // of each part: how many keys the tile has; then its first place in the tile
shared uint bases[PARTITION_MOST];    // of each part: where its keys go, less its first place in the tile
shared uint sorted[WORKGROUP * ITEMS];

const uint EACH = (PARTITION_MOST + WORKGROUP - 1u) / WORKGROUP;   // parts that a lane cares for

void main() {
    uint self = workgroup_lane(), n = length_of(length);
    uint first = workgroup_index() * WORKGROUP * ITEMS;
    if (first >= n) return;
    Partition parts = partition_load(range, bits);
    uint key[ITEMS], rank[ITEMS];
    [[unroll]] for (uint j = 0u; j < ITEMS; j++) key[j] = plain_load_at(keys, min(first + j * WORKGROUP + self, n - 1u));
    for (uint i = self; i < PARTITION_MOST; i += WORKGROUP) firsts[i] = 0u;
    barrier();
    [[unroll]] for (uint j = 0u; j < ITEMS; j++) {
        rank[j] = 0u;
        if (first + j * WORKGROUP + self < n) rank[j] = atomicAdd(firsts[partition_of(parts, key[j])], 1u);
    }
    barrier();
    uint own = 0u, total;
    for (uint i = self * EACH; i < min((self + 1u) * EACH, PARTITION_MOST); i++) own += firsts[i];
    uint before = subgroupExclusiveAdd(own);
    before += workgroup_before(subgroupAdd(own), total);
    for (uint i = self * EACH; i < min((self + 1u) * EACH, PARTITION_MOST); i++) {
        uint count = firsts[i];
        firsts[i] = before;
        if (count != 0u) bases[i] = atomic_add(address_at(counters, i, 2u), count) - before;
        before += count;
    }
    barrier();
    // Through shared memory, so that neighbours in a part are written by neighbouring lanes.
    [[unroll]] for (uint j = 0u; j < ITEMS; j++) {
        uint i = first + j * WORKGROUP + self, part = partition_of(parts, key[j]);
        uint place = firsts[part] + rank[j];
        if (i < n) {
            sorted[place] = key[j];
            plain_store_at(places, i, bases[part] + place);
        }
    }
    barrier();
    [[unroll]] for (uint j = 0u; j < ITEMS; j++) {
        uint i = j * WORKGROUP + self;
        if (first + i < n) plain_store_at(out_keys, bases[partition_of(parts, sorted[i])] + i, sorted[i]);
    }
}
