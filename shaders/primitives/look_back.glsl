// Decoupled look-back: computes the sum of the parts before a workgroup's part, while other workgroups still work on
// them (Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016, section 4).
//
// Each part has a state of two words, or of four if sums have 64 bits. The state is first the part's own sum, and later
// the sum of all parts up to it. A word has 16 bits of the sum, and tells which of the two sums it is. Each sum is the
// same whichever workgroup computes it, and a word never changes from the second sum back to the first. So a state
// whose words agree is consistent, however old each word is, without a fence or a 64-bit atomic
// (test/models/look_back_test.go).
//
// No workgroup depends on the progress of another one: after PATIENCE reads without a result it computes the sum of the
// part that it waits for from the input, and publishes it for others. So no running workgroup may change the input.
#ifndef VKDS_LOOK_BACK_GLSL
#define VKDS_LOOK_BACK_GLSL

#include "sum.glsl"

layout(constant_id = 18) const uint PATIENCE = 16384;   // 0: never read states, for tests

// A state is 0 as long as no sum is known.
const uint STATE_OWN = 1u;       // the part's own sum
const uint STATE_THROUGH = 2u;   // the sum of the parts up to this one
const uint STATE_SHIFT = 30u;
const uint STATE_VALUE = 0xffffu;

// The sum of a part, computed from the input. The kernel that includes this header defines it. Collective over the
// subgroup.
S sum_of(uint part);

uvec2 state_at(uvec2 states, uint part) { return address_at(states, part, SUM_SHIFT + 1u); }

// Two words of a state, which hold 32 bits of the sum.
uvec2 state_load(uvec2 at) { return uvec2(atomic_load(at), atomic_load(address_add(at, 4u))); }
void state_raise(uvec2 at, uint state, uint sum) {
    atomic_max(at, state << STATE_SHIFT | sum & STATE_VALUE);
    atomic_max(address_add(at, 4u), state << STATE_SHIFT | sum >> 16);
}
#define STATE_WORD(words) ((words).y << 16 | (words).x)

// state_publish raises a state by a maximum, so that it does not undo what the part's own workgroup may have published.
// By one invocation.
#if SUM_BITS == 64
#define State uvec4
#define STATE_LOAD(at) State(state_load(at), state_load(address_add(at, 8u)))
#define STATE_SUM(words) S(STATE_WORD(words.xy), STATE_WORD(words.zw))
void state_publish(uvec2 states, uint part, uint state, S sum) {
    uvec2 at = state_at(states, part);
    state_raise(at, state, sum.x);
    state_raise(address_add(at, 8u), state, sum.y);
}
#else
#define State uvec2
#define STATE_LOAD(at) state_load(at)
#define STATE_SUM(words) STATE_WORD(words)
void state_publish(uvec2 states, uint part, uint state, S sum) { state_raise(state_at(states, part), state, sum); }
#endif

// Publishes a part's own sum, looks back for the sum of the parts before it, publishes the sum of both, and returns the
// sum of the parts before. States must be 0 before the dispatch. Collective over one subgroup of the part's workgroup.
S look_back(uvec2 states, uint part, S own) {
    bool publishes = gl_SubgroupInvocationID == 0u;
    if (publishes && part != 0u) state_publish(states, part, STATE_OWN, own);
    S seen = S(0u);   // this lane's share of the sum. The shares are added up once, at the end (see workgroup_sum.glsl)
    uint tries = 0u;
    for (uint next = part; next != 0u;) {   // next-1 is the part to add next
        uint i = next - 1u - gl_SubgroupInvocationID;
        bool beyond = gl_SubgroupInvocationID >= next;   // there is nothing before the first part
        State words = State(STATE_THROUGH << STATE_SHIFT);
        if (!beyond && PATIENCE != 0u) words = STATE_LOAD(state_at(states, i));
        if (!beyond && PATIENCE == 0u) words = State(0u);
        State state = words >> STATE_SHIFT;
        bool ends = state == State(STATE_THROUGH);
        bool known = ends || state == State(STATE_OWN);
        uvec4 unknown = subgroupBallot(!known), ending = subgroupBallot(ends);
        uint run = unknown == uvec4(0u) ? gl_SubgroupSize : subgroupBallotFindLSB(unknown);
        uint last = ending == uvec4(0u) ? gl_SubgroupSize : subgroupBallotFindLSB(ending);
        uint added = min(run, last + 1u);
        words &= STATE_VALUE;
        SUM_ADD(seen, gl_SubgroupInvocationID < added ? STATE_SUM(words) : S(0u));
        if (last < run) break;
        next -= added;
        if (added != 0u) {
            tries = 0u;
        } else if (++tries > PATIENCE) {
            S sum = sum_of(next - 1u);
            if (publishes) {
                state_publish(states, next - 1u, STATE_OWN, sum);
                SUM_ADD(seen, sum);
            }
            next--;
            tries = 0u;
        } else {
            acquire_fence();   // needed in a loop that waits for atomic_load, see memory.glsl
        }
    }
    S before = SUM_SUBGROUP(seen);
    if (publishes) state_publish(states, part, STATE_THROUGH, SUM_PLUS(before, own));
    return before;
}

#endif
