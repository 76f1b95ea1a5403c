// Sorts an array that is short enough for one workgroup, in one dispatch: all passes, in shared memory. It is for CPU
// devices, on which the dispatches of a few hundred keys take longer than their sort.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "radix.glsl"
#include "length.glsl"
#include "sort_step.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys, values;           // values: 0 for keys only
    uvec2 out_keys, out_values;
    uint digits[DIGITS / 2u];     // of the passes, two per word
    uint passes;
    Length length;                // at most RADIX_TILE
};

shared K tile_keys[RADIX_TILE];           // in the input's order
shared uint tile_order[2u * RADIX_TILE];  // indices of keys: before a pass in one half, and after it in the other
shared uint made;                         // bit p: keys differ in the digit of pass p

uint digit_at(uint p) { return digits[p / 2u] >> (p % 2u * 16u) & 0xffffu; }

// Item j of a lane, of `rounds` each.
uint element(uint j, uint rounds) {
    return (gl_SubgroupID * rounds + j) * RADIX_STRIDE + gl_SubgroupInvocationID;
}

void main() {
    uint n = min(length_of(length), RADIX_TILE);
    if (n == 0u) return;
    uint self = workgroup_lane();
    uint rounds = (n + WORKGROUP - 1u) / WORKGROUP;
    if (self == 0u) made = 0u;
    K first = key_load_near(keys, 0u), differ = K(0u);
    for (uint i = self; i < rounds * WORKGROUP; i += WORKGROUP) {
        K key = KEY_MOST;   // after the array's end: ranked last in each pass, and never written
        if (i < n) {
            key = key_load_near(keys, i);
            differ |= key ^ first;
        }
        tile_keys[i] = key;
        tile_order[i] = i;
    }
    barrier();
    uint differing = 0u;
    for (uint p = 0u; p < passes; p++) {
        if (step_digit(digit_at(p), differ) != 0u) differing |= 1u << p;
    }
    differing = subgroupOr(differing);
    if (subgroupElect()) atomicOr(made, differing);
    barrier();

    uint from = 0u;
    for (uint p = 0u; p < passes; p++) {
        if ((made >> p & 1u) == 0u) continue;
        uint step = digit_at(p);
        radix_clear();
        for (uint j = 0u; j < rounds; j++)
            radix_count(step_digit(step, tile_keys[tile_order[from + element(j, rounds)]]), 1u);
        barrier();
        uint starts[RADIX_LANE_DIGITS];
        radix_totals(starts);
        radix_scan(starts);
        radix_places(starts);
        for (uint j = 0u; j < rounds; j++) {
            uint index = tile_order[from + element(j, rounds)];
            uint place = radix_rank(step_digit(step, tile_keys[index]));
            tile_order[RADIX_TILE - from + place] = index;
        }
        from = RADIX_TILE - from;
        barrier();
    }

    bool pairs = (values.x | values.y) != 0u;
    for (uint i = self; i < n; i += WORKGROUP) {
        uint index = tile_order[from + i];
        key_store_near(out_keys, i, tile_keys[index]);
        if (pairs) value_store_near(out_values, i, value_load_near(values, index));
    }
}
