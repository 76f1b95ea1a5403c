// Finds keys in sorted runs, where the queries are in about the order of their keys: a workgroup's are close together
// in every run, and it searches that part alone. Their answers go back to where they stood before.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "find.glsl"
#include "length.glsl"

layout(push_constant, std430) uniform Push {
    RunStack stack;
    uvec2 keys;      // uint32 a query
    uvec2 sources;   // uint32 a query: the index of its answer
    uvec2 answers;   // two words each, out: the value, and 1 where the key is there; else 0 and 0
    Length count;
    uint each;       // queries an invocation, at most 32
};

void answer(uint i, uint value, bool hit) {
    uint to = min(plain_load_at(sources, i), count.n - 1u);
    plain_store2(address_at(answers, to, 3u), uvec2(value, hit ? 1u : 0u));
}

shared uint least[WORKGROUP / 4u];   // no subgroup has fewer than 4 lanes
shared uint largest[WORKGROUP / 4u];
shared uint bounds[2u * STACK_ROWS];   // run_upper of the least and the largest key in each run

// Sets bounds for the workgroup's queries, where `open` says which each invocation has. Collective over the workgroup.
void bound_all(uint first, uint open, uint rows) {
    uint low = ~0u, high = 0u;
    for (uint q = 0u; q < each; q++) {
        if (((open >> q) & 1u) != 0u) {
            uint key = plain_load(address_at(keys, first + q * WORKGROUP, 2u));
            low = min(low, key);
            high = max(high, key);
        }
    }
    low = subgroupMin(low);
    high = subgroupMax(high);
    if (gl_SubgroupInvocationID == 0u) {
        least[gl_SubgroupID] = low;
        largest[gl_SubgroupID] = high;
    }
    barrier();
    for (uint i = workgroup_lane(); i < 2u * rows; i += WORKGROUP) {
        uint key = least[0];
        for (uint s = 1u; s < gl_NumSubgroups; s++) key = min(key, least[s]);
        if ((i & 1u) != 0u) {
            key = largest[0];
            for (uint s = 1u; s < gl_NumSubgroups; s++) key = max(key, largest[s]);
        }
        bounds[i] = run_upper(stack_run(stack, i >> 1), key);
    }
    barrier();
}

void main() {
    uint first = workgroup_index() * WORKGROUP * each + workgroup_lane(), n = length_of(count);
    uint asked = find_asked(first, each, n), rows = stack_rows(stack);
    bound_all(first, asked, rows);
    uint open = asked, hits = 0u;
    for (uint row = 0u; row < rows; row++) {
        Run run = stack_run(stack, row);
        if (run.size != 0u) find_in(run, bounds[2u * row], bounds[2u * row + 1u], keys, first, each, open, hits);
    }
    for (uint q = 0u; q < each; q++) {
        bool hit = ((hits >> q) & 1u) != 0u;
        if (((asked >> q) & 1u) != 0u && !hit) answer(first + q * WORKGROUP, 0u, false);
    }
}
