// Finds keys in sorted runs, if the queries are roughly sorted by their keys. The keys of a workgroup are then close
// together in every run, and it searches only that part. The answers are stored in the original order of the queries.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "find.glsl"
#include "run_width.glsl"
#include "length.glsl"

layout(push_constant, std430) uniform Push {
    RunStack stack;
    uvec2 keys;
    uvec2 sources;   // one word per query: the index of its answer
    uvec2 answers;   // output, one P per query: the value, and a 1 if the key is there; else zeros
    Length count;
    uint each;       // queries per invocation, at most 32
};

void answer(uint i, V value, bool hit) {
    uint to = min(plain_load_at(sources, i), count.n - 1u);
    VKDS_SLOT_STORE(address_at(answers, to, VKDS_SHIFT + 1u), P(value, V(hit ? 1u : 0u)));
}

shared K least[WORKGROUP / 4u];   // no subgroup has fewer than 4 lanes
shared K largest[WORKGROUP / 4u];
shared uint bounds[2u * STACK_ROWS];   // run_upper of the workgroup's least and greatest key in each run

// Sets `bounds` for the workgroup's queries, the `open` ones of each invocation. Collective over the workgroup.
void bound_all(uint first, uint open, uint rows) {
    K low = K(~0u), high = K(0u);
    for (uint q = 0u; q < each; q++) {
        if (((open >> q) & 1u) != 0u) {
            K key = VKDS_LOAD(address_at(keys, first + q * WORKGROUP, VKDS_SHIFT));
            low = VKDS_LESSER(low, key);
            high = VKDS_GREATER(high, key);
        }
    }
    low = subgroup_least(low);
    high = subgroup_greatest(high);
    if (gl_SubgroupInvocationID == 0u) {
        least[gl_SubgroupID] = low;
        largest[gl_SubgroupID] = high;
    }
    barrier();
    for (uint i = workgroup_lane(); i < 2u * rows; i += WORKGROUP) {
        K key = least[0];
        for (uint s = 1u; s < gl_NumSubgroups; s++) key = VKDS_LESSER(key, least[s]);
        if ((i & 1u) != 0u) {
            key = largest[0];
            for (uint s = 1u; s < gl_NumSubgroups; s++) key = VKDS_GREATER(key, largest[s]);
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
        if (((asked >> q) & 1u) != 0u && !hit) answer(first + q * WORKGROUP, V(0u), false);
    }
}
