// One pass of a sort on a CPU device, whose workgroups are single subgroups: as sort_scatter_counted.comp, but each
// element goes straight to its place. Nothing is gained by writing neighbors together, and arrays of a lane's elements
// would be in memory.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "radix.glsl"
#include "length.glsl"
#include "sort_step.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys[2];        // for step_array
    uvec2 values[2];      // 0: keys only
    uvec2 out_keys[2];
    uvec2 out_values[2];
    uvec2 digit_totals;   // the number of keys with each digit
    uvec2 counts;         // a row of `tiles` words per digit: the number of its keys in the tiles before
    uvec2 step_at;        // the step
    uint tiles;           // the greatest number of tiles
    Length length;
};

void main() {
    uint step = plain_load(step_at);
    if (step == 0u) return;
    uint n = length_of(length);
    uint tile = workgroup_index(), base = tile * RADIX_TILE;
    if (tile >= tiles || base >= n) return;
    uint count = min(n - base, RADIX_TILE), self = workgroup_lane();

    // The tile's next place for each digit takes the place of the counts that other kernels have there.
    uint before[RADIX_LANE_DIGITS];
    OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++)
        before[k] = plain_load_at(digit_totals, self * RADIX_LANE_DIGITS + k);
    radix_scan(before);
    OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        uint digit = self * RADIX_LANE_DIGITS + k;
        radix_room[digit] = before[k] + plain_load_at(counts, digit * tiles + tile);
        if (RADIX_MATCHES) radix_room[RADIX + digit] = 0u;
    }
    barrier();

    uvec2 in_values = step_array(step, values), to_values = step_array(step, out_values);
    uvec2 in_keys = step_array(step, keys), to_keys = step_array(step, out_keys);
    bool pairs = (in_values.x | in_values.y) != 0u;
    for (uint first = 0u; first < count; first += WORKGROUP) {
        uint i = base + min(first + self, count - 1u);
        bool there = first + self < count;
        K key = KEY_MOST;   // after the end: ranked last
        if (there) key = key_load_at(in_keys, i);
        uint place = radix_rank(step_digit(step, key));
        if (there && place < n) {   // which is so unless counts are not these keys'
            key_store_at(to_keys, place, key);
            if (pairs) value_store_at(to_values, place, value_load_at(in_values, i));
        }
    }
}
