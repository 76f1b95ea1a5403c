// The last step of a sort whose keys are in the order of their upper digits: sorts each run of keys with equal upper
// digits. In a short run, each key is compared with all others. If a long run is out of order, all passes are made
// after all. (Stehle and Jacobsen, A Memory Bandwidth-Efficient Hybrid Radix Sort on GPUs, 2017, also have local sorts
// after passes over upper digits.)
#version 460
#extension GL_GOOGLE_include_directive : require
#include "radix.glsl"
#include "length.glsl"
#include "sort_plan.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 values;       // if PAIRS is defined
    uvec2 out_keys;
    uvec2 out_values;
    uvec2 steps;        // the plan
    uvec2 counts;       // for each pass, the digits' first places in the output
    uvec2 published;    // of the first one of all passes: each digit's first place, then `publishes` words to clear
    uvec2 compared;     // the bits by which keys are compared
    uint publishes;
    uint most;          // the greatest number of keys in a short run
    Length length;
};

const uint EACH = 2u;   // elements per lane

shared bool failed;

uint first_bit;   // the first bit of the upper digits

bool same_run(K a, K b) { return number_from((a ^ b) & K(compared), first_bit) == 0u; }
bool key_below(K a, K b) { return number_below(a & K(compared), b & K(compared)); }

// Where an element goes. Elements of long runs stay where they are.
uint place_of(uint i, uint n, K key) {
    uint left = 0u, right = 0u, smaller = 0u;
    for (; left < most && left < i; left++) {
        K other = key_load_at(keys, i - left - 1u);
        if (!same_run(other, key)) break;
        smaller += key_below(key, other) ? 0u : 1u;
    }
    for (; left + right < most && right < n - i - 1u; right++) {
        K other = key_load_at(keys, i + right + 1u);
        if (!same_run(other, key)) break;
        smaller += key_below(other, key) ? 1u : 0u;
    }
    if (left + right < most) return i - left + smaller;
    if (left != 0u && key_below(key, key_load_at(keys, i - 1u))) failed = true;
    return i;
}

// Prepares all passes, the first of which begins at digit `first`.
void make_ready(uint first) {
    for (uint i = workgroup_lane(); i < DIGITS; i += WORKGROUP)
        atomic_store(address_at(steps, STEPS_AT + i, 2u), plain_load_near(steps, SPARE_STEPS_AT + i));
    if (publishes == 0u) return;
    for (uint i = workgroup_lane(); i < RADIX; i += WORKGROUP)
        atomic_store(address_at(published, i, 2u), FIRST_PLACE | plain_load_near(counts, first * RADIX + i));
}

void main() {
    uint local = plain_load_near(steps, LOCAL_STEP_AT);
    if (local == 0u) return;
    first_bit = local & 0xffu;
    if (workgroup_lane() == 0u) failed = false;
    barrier();
    uint n = length_of(length);
    uint base = workgroup_index() * WORKGROUP * EACH + workgroup_lane();
    K key[EACH];
#ifdef PAIRS
    V value[EACH];
#endif
    // If another workgroup has failed, nothing is left to do here.
    if (atomic_load(address_at(steps, STEPS_AT, 2u)) != 0u) n = 0u;
    [[unroll]] for (uint k = 0u; k < EACH; k++) {
        uint i = base + k * WORKGROUP;
        if (i >= n) continue;
        key[k] = key_load_at(keys, i);
#ifdef PAIRS
        value[k] = value_load_at(values, i);
#endif
    }
    [[unroll]] for (uint k = 0u; k < EACH; k++) {
        uint i = base + k * WORKGROUP;
        if (i >= n) continue;
        uint place = place_of(i, n, key[k]);
        key_store_at(out_keys, place, key[k]);
#ifdef PAIRS
        value_store_at(out_values, place, value[k]);
#endif
    }
    uint lanes = gl_NumWorkGroups.x * gl_NumWorkGroups.y * WORKGROUP;
    for (uint i = invocation_index(); i < publishes; i += lanes) plain_store_near(published, RADIX + i, 0u);
    barrier();
    if (failed) make_ready(local >> LOCAL_FIRST_AT & (DIGITS - 1u));
}
