// Moves keys to their parts, with a workgroup per tile. A tile counts its keys of each part, and reserves places for
// them in the part by one atomic. So the order of tiles within a part is undefined.
//
// A second number of the same width may follow each key, and moves with it. The kernel also writes, if they are wanted,
// the destination of each key and the source of each key in the result.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "partition.glsl"
#include "workgroup_sum.glsl"

layout(constant_id = 16) const uint ITEMS = 8;   // keys per lane

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 sorted;     // output: the keys in the order of their parts
    uvec2 destinations;   // output, one word per key: its index in the result. 0: not wanted
    uvec2 sources;    // output, one word per key of the result: its index before. 0: not wanted
    uvec2 range;
    uvec2 counters;   // for each part, where its next key goes
    uint bits;
    uint key_shift;   // log2 of the distance of keys in bytes
    Length length;
};

shared uint firsts[PARTITION_MOST];   // for each part, the tile's number of keys, then its first place in the tile
shared uint bases[PARTITION_MOST];    // for each part, where the tile's keys go, minus its first place in the tile
shared K tile[WORKGROUP * ITEMS];

const uint EACH = (PARTITION_MOST + WORKGROUP - 1u) / WORKGROUP;   // parts per lane

void main() {
    uint self = workgroup_lane(), n = length_of(length);
    uint first = workgroup_index() * WORKGROUP * ITEMS;
    if (first >= n) return;
    uint left = n - first;
    Partition parts = partition_load(range, bits);
    K key[ITEMS];
    uint rank[ITEMS];
    [[unroll]] for (uint j = 0u; j < ITEMS; j++)
        key[j] = partition_key(keys, first + min(j * WORKGROUP + self, left - 1u), key_shift);
    for (uint i = self; i < PARTITION_MOST; i += WORKGROUP) firsts[i] = 0u;
    barrier();
    [[unroll]] for (uint j = 0u; j < ITEMS; j++) {
        rank[j] = 0u;
        if (j * WORKGROUP + self < left) rank[j] = atomicAdd(firsts[partition_of(parts, key[j])], 1u);
    }
    barrier();
    uint own = 0u, total;
    for (uint i = self * EACH; i < min((self + 1u) * EACH, PARTITION_MOST); i++) own += firsts[i];
    uint before = subgroupExclusiveAdd(own);
    before += workgroup_before(subgroupAdd(own), total);
    for (uint i = self * EACH; i < min((self + 1u) * EACH, PARTITION_MOST); i++) {
        uint count = firsts[i];
        firsts[i] = before;
        // Whatever the counter says, all keys are stored inside of the result.
        if (count != 0u) bases[i] = min(atomic_add(address_at(counters, i, 2u), count), n - count) - before;
        before += count;
    }
    barrier();
    // Keys go through shared memory, so that consecutive lanes write consecutive keys of a part.
    bool pairs = key_shift == PARTITION_PAIR_SHIFT;
    uint place[ITEMS], to[ITEMS];
    K brought[ITEMS];
    [[unroll]] for (uint j = 0u; j < ITEMS; j++) {
        uint i = j * WORKGROUP + self, part = partition_of(parts, key[j]);
        place[j] = firsts[part] + rank[j];
        if (i < left) {
            tile[place[j]] = key[j];
            if ((destinations.x | destinations.y) != 0u)
                plain_store_at(destinations, first + i, bases[part] + place[j]);
        }
    }
    barrier();
    [[unroll]] for (uint j = 0u; j < ITEMS; j++) {
        uint i = j * WORKGROUP + self;
        brought[j] = tile[i];
        to[j] = bases[partition_of(parts, brought[j])] + i;
        if (!pairs && i < left) VKDS_STORE_AT(sorted, to[j], brought[j]);
    }
    if (pairs) {
        barrier();
        [[unroll]] for (uint j = 0u; j < ITEMS; j++) {
            uint i = j * WORKGROUP + self;
            uvec2 other = address_add(address_at(keys, first + i, PARTITION_PAIR_SHIFT), 1u << VKDS_SHIFT);
            if (i < left) tile[place[j]] = VKDS_LOAD(other);
        }
        barrier();
        [[unroll]] for (uint j = 0u; j < ITEMS; j++) {
            uint i = j * WORKGROUP + self;
            if (i < left)
                PARTITION_STORE_PAIR(address_at(sorted, to[j], PARTITION_PAIR_SHIFT),
                                     PARTITION_PAIR(brought[j], tile[i]));
        }
    }
    if ((sources.x | sources.y) != 0u) {
        barrier();
        [[unroll]] for (uint j = 0u; j < ITEMS; j++) {
            uint i = j * WORKGROUP + self;
            if (i < left) tile[place[j]] = K(first + i);
        }
        barrier();
        [[unroll]] for (uint j = 0u; j < ITEMS; j++) {
            uint i = j * WORKGROUP + self;
            if (i < left) plain_store_at(sources, to[j], PARTITION_NUMBER(tile[i]));
        }
    }
}
