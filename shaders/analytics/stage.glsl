// Stage: parts of rows in shared memory. Their lanes are divided evenly among the workgroup's invocations: a binary
// search over the ends of the parts finds lane k of all parts. So the cost of a row is proportional to its arcs
// (Merrill, Garland and Grimshaw, Scalable GPU Graph Traversal, 2012, section 4.3, with a search instead of the
// scatter).
#ifndef VKDS_ANALYTICS_STAGE_GLSL
#define VKDS_ANALYTICS_STAGE_GLSL

#include "neighbors.glsl"
#include "../primitives/workgroup_sum.glsl"

// Before this header, define STAGE as the number of parts: a power of two, at most WORKGROUP.
shared uint stage_ends[STAGE];
shared uint stage_firsts[STAGE];     // the place of a part's first lane, minus the number of lanes in earlier parts
shared uint stage_vertices[STAGE];
shared uint stage_values[STAGE];
#ifdef LIVE
shared uint stage_steps[STAGE];      // the row_step of each part
#endif

// Stages the part of each invocation below STAGE. The others' parts must have no lanes. Returns the number of lanes of
// all parts. Collective over the workgroup.
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

// The part with lane k of all parts.
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
