// Decoupled look-back: what the parts before a workgroup's part sum up to, while other workgroups still work on them
// (Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016, section 4).
//
// Each part has a state of two words: the part's own sum when that is known, then that of all parts up to it. A word
// has a half of the sum, beside which of the two it is, so that a state is read whole if its words agree; no fence is
// needed, nor a 64-bit atomic.
//
// Nobody relies on another workgroup's progress: who has looked in vain PATIENCE times works out the predecessor's sum
// from the input, and publishes it for others. So no running workgroup may change the input.
#ifndef VKDS_LOOK_BACK_GLSL
#define VKDS_LOOK_BACK_GLSL

#include "memory.glsl"

layout(constant_id = 18) const uint PATIENCE = 16384;   // 0: never look, which is for tests

// A state is 0 while nothing is known.
const uint STATE_OWN = 1u;       // the part's own sum
const uint STATE_THROUGH = 2u;   // the sum of the parts up to this one
const uint STATE_SHIFT = 30u;
const uint STATE_VALUE = 0xffffu;

// The sum of a part, from the input. The kernel that includes this defines it. Collective over the subgroup.
uint sum_of(uint part);

uvec2 state_at(uvec2 states, uint part) { return address_at(states, part, 3u); }

// By one invocation. Raises a state, so that what the part's own workgroup has published meanwhile stays.
void state_publish(uvec2 states, uint part, uint state, uint sum) {
    uvec2 at = state_at(states, part);
    atomic_max(at, state << STATE_SHIFT | sum & STATE_VALUE);
    atomic_max(address_add(at, 4u), state << STATE_SHIFT | sum >> 16);
}

// Publishes a part's own sum, looks back for the sum of the parts before it, publishes both together, and returns that
// of the parts before. states are 0 before the dispatch. By one subgroup of the part's workgroup; collective over it.
uint look_back(uvec2 states, uint part, uint own) {
    bool publishes = gl_SubgroupInvocationID == 0u;
    if (publishes && part != 0u) state_publish(states, part, STATE_OWN, own);
    uint seen = 0u;   // of the sum, what the lane has seen; all lanes' are added up once (workgroup_sum.glsl)
    uint tries = 0u;
    for (uint next = part; next != 0u;) {   // next-1 is the part to be added next
        uint i = next - 1u - gl_SubgroupInvocationID;
        bool beyond = gl_SubgroupInvocationID >= next;   // before the first part there is nothing
        uvec2 words = uvec2(STATE_THROUGH << STATE_SHIFT);
        if (!beyond && PATIENCE != 0u)
            words = uvec2(atomic_load(state_at(states, i)), atomic_load(address_add(state_at(states, i), 4u)));
        if (!beyond && PATIENCE == 0u) words = uvec2(0u);
        uvec2 state = words >> STATE_SHIFT;
        bool ends = state == uvec2(STATE_THROUGH);
        bool known = ends || state == uvec2(STATE_OWN);
        uvec4 unknown = subgroupBallot(!known), ending = subgroupBallot(ends);
        uint run = unknown == uvec4(0u) ? gl_SubgroupSize : subgroupBallotFindLSB(unknown);
        uint last = ending == uvec4(0u) ? gl_SubgroupSize : subgroupBallotFindLSB(ending);
        uint added = min(run, last + 1u);
        words &= STATE_VALUE;
        seen += gl_SubgroupInvocationID < added ? words.y << 16 | words.x : 0u;
        if (last < run) break;
        next -= added;
        if (added != 0u) {
            tries = 0u;
        } else if (++tries > PATIENCE) {
            uint sum = sum_of(next - 1u);
            if (publishes) {
                state_publish(states, next - 1u, STATE_OWN, sum);
                seen += sum;
            }
            next--;
            tries = 0u;
        } else {
            acquire_fence();   // see atomic_load
        }
    }
    uint before = subgroupAdd(seen);
    if (publishes) state_publish(states, part, STATE_THROUGH, before + own);
    return before;
}

#endif
