// For test/shader: sorted_run.glsl. What its functions say of a query's key, in each row of a stack.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../runs/sorted_run.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    RunStack stack;
    uvec2 queries;   // four words a query: a key, a row, the begin and the end of a slice of the row's run
    uvec2 answers;   // eight words a query
    uint count;
};

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    uvec4 query = plain_load4(address_at(queries, i, 4u));
    Run run = stack_run(stack, min(query.y, STACK_ROWS - 1u));
    uint upper = run_upper(run, query.x);
    uvec4 pair = uvec4(0u);
    if (upper != 0u) {
        pair.x = run_key(run, upper - 1u);
        pair.y = run_value(run, upper - 1u);
        pair.z = run_tombstone(run, upper - 1u, pair.y) ? 1u : 0u;
    }
    pair.w = stack_rows(stack);
    plain_store4(address_at(answers, i, 5u), uvec4(run.size, run_lower(run, query.x), upper,
                                                   run_upper_in(run, query.z, query.w, query.x)));
    plain_store4(address_add(address_at(answers, i, 5u), 16u), pair);
}
