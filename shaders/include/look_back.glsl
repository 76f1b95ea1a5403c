// Decoupled look-back: what the parts before a workgroup's part make together, while other workgroups still work on
// them (Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016, section 4).
//
// Each part has a state of two words: the part's own share when that is known, then what all parts up to it make.
// Every word carries which of the two it is of beside 30 bits of it, so that a state is read whole if its words agree;
// no fence is needed, nor a 64-bit atomic.
//
// Nobody relies on another workgroup's progress: who has looked in vain PATIENCE times works out the predecessor's share
// from the input, and publishes it for others. So no running workgroup may change the input.
#ifndef VKDS_LOOK_BACK_GLSL
#define VKDS_LOOK_BACK_GLSL

#include "memory.glsl"

layout(constant_id = 5) const uint PATIENCE = 16384;   // 0: never look, which is for tests

const uint STATE_NONE = 0u;
const uint STATE_OWN = 1u;       // the part's own share
const uint STATE_THROUGH = 2u;   // what the parts up to this one make
const uint STATE_SHIFT = 30u;
const uint STATE_VALUE = (1u << STATE_SHIFT) - 1u;

// The kernel that includes this defines what shares are: two values below 2^30, both 0 for nothing.

// What the shares of the lanes' parts make with that of the parts behind them. Collective over the subgroup.
uvec2 share_join(uvec2 of_lane, uvec2 behind);

// The share of a part, from the input. Collective over the subgroup.
uvec2 share_of(uint part);

uvec2 state_at(uvec2 states, uint part) { return address_at(states, part, 3u); }

// By one invocation. Raises a state, so that what the part's own workgroup has published meanwhile stays.
void state_publish(uvec2 states, uint part, uint state, uvec2 share) {
    uvec2 at = state_at(states, part);
    atomic_max(at, state << STATE_SHIFT | share.x);
    atomic_max(address_add(at, 4u), state << STATE_SHIFT | share.y);
}

// What the parts before this one make. Collective over a subgroup; states are 0 before the dispatch.
uvec2 look_back(uvec2 states, uint part) {
    uvec2 behind = uvec2(0u);
    uint tries = 0u;
    for (uint next = part; next != 0u;) {   // next-1 is the part to be joined next
        uint i = next - 1u - gl_SubgroupInvocationID;
        bool beyond = gl_SubgroupInvocationID >= next;   // before the first part there is nothing
        uvec2 words = uvec2(STATE_THROUGH << STATE_SHIFT);
        if (!beyond && PATIENCE != 0u) words = uvec2(atomic_load(state_at(states, i)), atomic_load(address_add(state_at(states, i), 4u)));
        if (!beyond && PATIENCE == 0u) words = uvec2(0u);
        uvec2 state = words >> STATE_SHIFT;
        bool ends = state == uvec2(STATE_THROUGH);
        bool known = ends || state == uvec2(STATE_OWN);
        uvec4 unknown = subgroupBallot(!known), ending = subgroupBallot(ends);
        uint run = unknown == uvec4(0u) ? gl_SubgroupSize : subgroupBallotFindLSB(unknown);
        uint last = ending == uvec4(0u) ? gl_SubgroupSize : subgroupBallotFindLSB(ending);
        uint joined = min(run, last + 1u);
        behind = share_join(gl_SubgroupInvocationID < joined ? words & STATE_VALUE : uvec2(0u), behind);
        if (last < run) break;
        next -= joined;
        if (joined != 0u) {
            tries = 0u;
        } else if (++tries > PATIENCE) {
            uvec2 share = share_of(next - 1u);
            if (gl_SubgroupInvocationID == 0u) state_publish(states, next - 1u, STATE_OWN, share);
            behind = share_join(gl_SubgroupInvocationID == 0u ? share : uvec2(0u), behind);
            next--;
            tries = 0u;
        } else {
            acquire_fence();   // see atomic_load
        }
    }
    return behind;
}

// The same for the subgroup whose workgroup has found its part's share: publishes it, looks back, and publishes what
// the parts up to this one make.
uvec2 look_back_with(uvec2 states, uint part, uvec2 share) {
    if (gl_SubgroupInvocationID == 0u && part != 0u) state_publish(states, part, STATE_OWN, share);
    uvec2 before = look_back(states, part);
    uvec2 through = share_join(gl_SubgroupInvocationID == 0u ? share : uvec2(0u), before);
    if (gl_SubgroupInvocationID == 0u) state_publish(states, part, STATE_THROUGH, through);
    return before;
}

#endif
