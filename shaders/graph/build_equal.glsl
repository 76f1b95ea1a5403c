// Build equal: finds equal arcs of a bucket, by tiles.
#ifndef VKDS_GRAPH_BUILD_EQUAL_GLSL
#define VKDS_GRAPH_BUILD_EQUAL_GLSL

#include "build.glsl"

// The arcs of a bucket that a lane holds at a time. They are loaded together.
const uint HELD = 4u;

// The target of an arc: every 2^shift bytes there is one.
uint target_at(uvec2 targets, uint shift, uint at, uint end) {
    uint target = 0u;   // of none
    if (at < end) target = plain_load(address_at(targets, at, shift));
    return target;
}

// Of the arcs that the lane holds, those that are the last of equal ones before `end`: a bit for each. The lane holds
// every TILE-th arc from `at` on. Collective over the subgroup.
uint last_of_equal(uvec2 targets, uint shift, uint held[HELD], uint at, uint end) {
    uint last = (1u << HELD) - 1u;
    [[unroll]] for (uint d = 0u; d < HELD; d++) {
        if (!subgroupAny(at + d * TILE < end)) break;
        [[unroll]] for (uint lane = 0u; lane < TILE; lane++) {
            uint other = tile_shuffle(held[d], lane);
            [[unroll]] for (uint c = 0u; c <= d; c++)
                if (held[c] == other && (c < d || tile_lane() < lane)) last &= ~(1u << c);
        }
    }
    for (uint from = at + HELD * TILE; subgroupAny(from < end); from += TILE) {
        uint others = target_at(targets, shift, from + tile_lane(), end);
        [[unroll]] for (uint lane = 0u; lane < TILE; lane++) {
            uint other = tile_shuffle(others, lane);
            [[unroll]] for (uint c = 0u; c < HELD; c++) if (held[c] == other) last &= ~(1u << c);
        }
    }
    return last;
}

#endif
