// Stage: parts of rows in shared memory. Their lanes are divided evenly among the workgroup's invocations: a binary
// search over the ends of the parts finds lane k of all of them. So each row costs in proportion to its arcs (Merrill,
// Garland and Grimshaw, Scalable GPU Graph Traversal, 2012, section 4.3, with a search instead of the scatter).
#ifndef VKDS_ANALYTICS_STAGE_GLSL
#define VKDS_ANALYTICS_STAGE_GLSL

#include "neighbors.glsl"
#include "../primitives/workgroup_sum.glsl"

// Define STAGE as how many parts there are at once, a power of two, at most WORKGROUP, before this header.
shared uint stage_ends[STAGE];
shared uint stage_firsts[STAGE];     // place of lane 0 of all parts, were it the part's
shared uint stage_vertices[STAGE];
shared uint stage_values[STAGE];
#ifdef LIVE
shared uint stage_steps[STAGE];      // row_step of each part
#endif

// Puts a part of each invocation below STAGE, those of the others having no lanes; returns how many lanes there are.
// Collective over the workgroup.
uint stage_put(uint vertex, Row part, uint value) {
    uint lane = workgroup_lane();
    uint through = subgroupInclusiveAdd(part.lanes);
    uint total;
    uint end = workgroup_before(subgroupShuffle(through, gl_SubgroupSize - 1u), total) + through;
    if (lane < STAGE) {
        stage_ends[lane] = end;
        stage_firsts[lane] = part.first - (end - part.lanes);
        stage_vertices[lane] = vertex;
        stage_values[lane] = value;
#ifdef LIVE
        stage_steps[lane] = part.step;
#endif
    }
    barrier();
    return total;
}

// The part that has lane k of all.
uint stage_find(uint k) {
    uint i = 0u;
    for (uint step = STAGE / 2u; step != 0u; step /= 2u)
        if (stage_ends[i + step - 1u] <= k) i += step;
    return i;
}

uint stage_step(uint i) {
#ifdef LIVE
    return stage_steps[i];
#else
    return 1u;
#endif
}

#endif
