// Brings the arcs of rows into the order of their buckets: those of a vertex are together already, and only those of
// vertices with several buckets have to move. Such a vertex has BUILD_ORDERED arcs at most: its subgroup holds them in
// registers, finds their places by votes, and writes them back. The order among the arcs of a bucket stays.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "build.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 offsets;    // of the rows
    uvec2 places;     // vertices + 1 words: the number of buckets of earlier vertices
    uvec2 keys;       // as build_keys.comp has written them
    uvec2 values;
    uint shift;       // log2 of the bytes of a key; the upper word of one of 8 bytes is the bucket
    uint vertices;
    uint count;       // arcs of all vertices; none is written behind them, whatever the offsets say
};

const uint MOST = BUILD_ORDERED / 4u;   // the arcs of a lane; a subgroup has 4 lanes or more

uvec2 load_key(uint arc) {
    uvec2 key = uvec2(0u);
    if (shift == 3u) key = plain_load2(address_at(keys, arc, 3u));
    else key.y = plain_load_at(keys, arc);
    return key;
}

// Orders the arcs from `first` on, whose buckets begin at `begin`. Collective over the subgroup.
void order(uint first, uint number, uint begin, uint buckets) {
    uvec2 key[MOST];
    uint value[MOST], place[MOST], lane = gl_SubgroupInvocationID, lanes = gl_SubgroupSize;
    for (uint j = 0u; j * lanes < number; j++) {
        uint i = j * lanes + lane;
        key[j] = uvec2(0u, ~0u);
        value[j] = place[j] = 0u;
        if (i < number) {
            key[j] = load_key(first + i);
            value[j] = plain_load_at(values, first + i);
        }
    }
    uint before = 0u;
    for (uint b = 0u; b < buckets; b++) {
        for (uint j = 0u; j * lanes < number; j++) {
            bool here = key[j].y == begin + b;
            uvec4 all = subgroupBallot(here);
            if (here) place[j] = before + subgroupBallotExclusiveBitCount(all);
            before += subgroupBallotBitCount(all);
        }
    }
    // All lanes have read their arcs before any lane writes one. The votes above keep the lanes together.
    memoryBarrier(gl_ScopeSubgroup, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
    for (uint j = 0u; j * lanes < number; j++) {
        uint to = first + place[j];
        if (j * lanes + lane >= number) continue;
        if (shift == 3u) plain_store2(address_at(keys, to, 3u), key[j]);
        else plain_store_at(keys, to, key[j].y);
        plain_store_at(values, to, value[j]);
    }
}

void main() {
    uint v = invocation_index(), first = 0u, own = 0u, begin = 0u, buckets = 0u;
    if (v < vertices) {
        first = min(plain_load_at(offsets, v), count);
        own = min(clamp(plain_load_at(offsets, v + 1u), first, count) - first, BUILD_ORDERED);
        begin = plain_load_at(places, v);
        buckets = plain_load_at(places, v + 1u) - begin;
    }
    uvec4 several = subgroupBallot(buckets > 1u);
    while (several != uvec4(0u)) {
        uint source = subgroupBallotFindLSB(several);
        order(subgroupShuffle(first, source), subgroupShuffle(own, source), subgroupShuffle(begin, source),
              min(subgroupShuffle(buckets, source), BUILD_ORDERED));
        several[source >> 5] &= several[source >> 5] - 1u;
    }
}
