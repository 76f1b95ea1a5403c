// For the doctor: two parties pass a turn back and forth. Each waits for its turn in a loop and then passes it on. So
// the device must run the other party while one waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "litmus.glsl"

const uint WORKGROUPS = 0u, SUBGROUPS = 1u, LANES = 2u;
layout(constant_id = 16) const uint BETWEEN = 0;   // what a party is
layout(constant_id = 17) const uint FENCES = 1;    // 1: a fence follows each check

layout(push_constant, std430) uniform Push {
    uvec2 turns;      // one word per pair, 0 before: how often the turn was passed on; GAVE_UP or more if one gave up
    uvec2 tickets;    // a word, 0 before: workgroups form pairs in the order in which they begin
    uint moves;       // the number of moves of both parties together
    uint patience;    // the maximal number of checks of a party, over all its moves
    uint seed;
};

const uint GAVE_UP = 1u << 31;

void play(uint number) {
    uint pair = number >> 1;
    uint party = (number ^ hash_mix(seed ^ pair)) & 1u;
    uvec2 turn = address_at(turns, pair, 2u);
    uint left = patience;
    for (uint move = party; move < moves; move += 2u) {
        uint seen = atomic_load(turn);
        while (seen != move && seen < GAVE_UP && left > 0u) {
            left--;
            if (FENCES != 0u) acquire_fence();
            seen = atomic_load(turn);
        }
        if (seen != move) {
            atomic_or(turn, GAVE_UP);
            break;
        }
        if (FAULT == 0u || party == 0u) atomic_add(turn, 1u);
    }
}

void main() {
    if (BETWEEN == LANES) {
        play(invocation_index());
    } else if (BETWEEN == SUBGROUPS) {
        uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
        if (gl_SubgroupInvocationID == 0u) play(group * gl_NumSubgroups + gl_SubgroupID);
    } else if (gl_SubgroupID == 0u && gl_SubgroupInvocationID == 0u) {
        play(atomic_add(tickets, 1u));
    }
}
