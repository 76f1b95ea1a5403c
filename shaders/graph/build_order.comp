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

void store_arc(uint arc, uvec2 key, uint value) {
    if (shift == 3u) plain_store2(address_at(keys, arc, 3u), key);
    else plain_store_at(keys, arc, key.y);
    plain_store_at(values, arc, value);
}

// All lanes have read their arcs before any lane writes one. The votes before it keep the lanes together. A control
// barrier of the subgroup would say so, but with one lavapipe's builds are wrong, perhaps because it waits for the
// whole workgroup, whose subgroups call this different numbers of times.
void all_have_read() { memoryBarrier(gl_ScopeSubgroup, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease); }

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
    all_have_read();
    for (uint j = 0u; j * lanes < number; j++)
        if (j * lanes + lane < number) store_arc(first + place[j], key[j], value[j]);
}

// The same for no more arcs than the subgroup has lanes. Arrays with a variable index are in memory.
void order_few(uint first, uint number, uint begin, uint buckets) {
    uint arc = first + gl_SubgroupInvocationID, value = 0u, place = 0u, before = 0u;
    uvec2 key = uvec2(0u, ~0u);
    bool there = gl_SubgroupInvocationID < number;
    if (there) {
        key = load_key(arc);
        value = plain_load_at(values, arc);
    }
    for (uint b = 0u; b < buckets; b++) {
        bool here = key.y == begin + b;
        uvec4 all = subgroupBallot(here);
        if (here) place = before + subgroupBallotExclusiveBitCount(all);
        before += subgroupBallotBitCount(all);
    }
    all_have_read();
    if (there) store_arc(first + place, key, value);
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
        uint its_first = subgroupShuffle(first, source), number = subgroupShuffle(own, source);
        uint its_begin = subgroupShuffle(begin, source), all = min(subgroupShuffle(buckets, source), BUILD_ORDERED);
        if (number > gl_SubgroupSize) order(its_first, number, its_begin, all);
        else order_few(its_first, number, its_begin, all);
        several[source >> 5] &= several[source >> 5] - 1u;
    }
}
