// For test/shader: the functions of sorted_run.glsl, for a key and a row of a stack.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../runs/sorted_run.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    RunStack stack;
    uvec2 keys;      // one per query
    uvec2 places;    // four words per query: a row, the beginning and the end of a slice of the row's run, unused
    uvec2 answers;   // output: eight words per query, see below
    uvec2 pairs;     // output: a key and a value per query, the last pair up to the key
    uint count;
};

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    K key = VKDS_LOAD_AT(keys, i);
    uvec4 place = plain_load4(address_at(places, i, 4u));
    Run run = stack_run(stack, min(place.x, STACK_ROWS - 1u));
    uint upper = run_upper(run, key);
    K last = K(0u);
    V value = V(0u);
    bool tombstone = false;
    if (upper != 0u) {
        last = run_key(run, upper - 1u);
        value = run_value(run, upper - 1u);
        tombstone = run_tombstone(run, upper - 1u, value);
    }
    VKDS_STORE_AT(pairs, 2u * i, last);
    VKDS_STORE_AT(pairs, 2u * i + 1u, value);
    uvec2 at = address_at(answers, i, 5u);
    plain_store4(at, uvec4(run.size, run_lower(run, key), upper, run_upper_in(run, place.y, place.z, key)));
    plain_store4(address_add(at, 16u), uvec4(tombstone ? 1u : 0u, stack_rows(stack), RUN_NODE, 0u));
}
