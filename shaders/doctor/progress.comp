// For the doctor: pairs of parties hand a turn to and fro. Each waits for its turn in a loop of its own, behind
// which it passes the turn on; so the waiting party must let the other one run.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "litmus.glsl"

const uint WORKGROUPS = 0u, SUBGROUPS = 1u, LANES = 2u;
layout(constant_id = 16) const uint BETWEEN = 0;   // what the parties are
layout(constant_id = 17) const uint FENCES = 1;    // whether there is one between two looks

layout(push_constant, std430) uniform Push {
    uvec2 turns;      // a word a pair, 0 before: how often the turn was passed on, or GAVE_UP and more
    uvec2 tickets;    // a word, 0 before: workgroups pair up in the order in which they begin
    uint moves;       // of both parties together
    uint patience;    // how often a party looks for its turn, in all
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
