// One dispatch of insertions into a latched tree.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "latched_insert.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    LatchedTree tree;
    uvec2 keys;       // uint32 an operation
    uvec2 values;     // uint32 an operation
    uvec2 statuses;   // a byte an operation, out
    uvec2 pending;    // a counter of operations left pending
    uint count;
    uint visits;
    uint retry;       // 1: only the operations whose status is STATUS_PENDING
};

void main() {
    uint i = invocation_index();
    bool todo = i < count;
    uint before = STATUS_PENDING;
    if (todo && retry != 0u) before = byte_load(statuses, i);
    todo = todo && before == STATUS_PENDING;
    uint key = 0u, value = 0u;
    if (todo) {
        key = plain_load_at(keys, i);
        value = plain_load_at(values, i);
    }
    uint status = latched_insert(tree, key, value, todo, visits);
    byte_store(statuses, i, count, todo ? status : before);
    uint left = subgroupBallotBitCount(subgroupBallot(todo && status == STATUS_PENDING));
    if (left != 0u && subgroupElect()) atomic_add(pending, left);
}
