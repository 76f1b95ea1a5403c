// For the doctor: what a subgroup is, the results of its operations, and the rounds of a tile.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "litmus.glsl"
#include "tile.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 inputs;    // one word per invocation
    uvec2 answers;   // five quads per invocation, see the end of main
    uint count;
};

void main() {
    uint i = invocation_index();
    uint value = i < count ? plain_load(address_at(inputs, i, 2u)) : 0u;
    bool odd = (value & 1u) != 0u;
    uint lane = gl_SubgroupInvocationID;
    uint from = (value >> 8) & (gl_SubgroupSize - 1u);

    uvec4 ballot = subgroupBallot(odd);
    uint shuffled = subgroupShuffle(value, FAULT == 0u ? from : from ^ 1u);
    uint sum = subgroupAdd(value);
    uint before = subgroupExclusiveAdd(value);
    uint least = subgroupMin(value);
    uint most = subgroupMax(value);
    uint first = subgroupBroadcastFirst(value);
    uint counts = subgroupBallotBitCount(ballot) | subgroupBallotExclusiveBitCount(ballot) << 8
                | (subgroupElect() ? 1u << 16 : 0u) | (subgroupAny(odd) ? 1u << 17 : 0u)
                | (subgroupAll(odd) ? 1u << 18 : 0u);

    // A tile works for its busy lanes, one after another: each step depends on the one before.
    uint chain = 0u, rounds = 0u;
    bool busy = odd;
    while (subgroupAny(busy) && rounds <= TILE) {
        uint queue = tile_ballot(busy);
        uint source = queue == 0u ? 0u : uint(findLSB(queue));
        uint v = tile_shuffle(value, source);
        if (queue != 0u) chain = hash_mix(chain ^ v);
        if (busy && tile_lane() == source) busy = false;
        rounds++;
    }

    if (i < count) {
        uvec2 at = address_at(answers, 5u * i, 4u);
        plain_store4(at, uvec4(gl_SubgroupSize, gl_NumSubgroups, lane, gl_LocalInvocationIndex));
        plain_store4(address_add(at, 16u), ballot);
        plain_store4(address_add(at, 32u), uvec4(shuffled, sum, before, least));
        plain_store4(address_add(at, 48u), uvec4(most, first, counts, chain));
        plain_store4(address_add(at, 64u), uvec4(gl_SubgroupID, gl_WorkGroupID.x, 0u, 0u));
    }
}
