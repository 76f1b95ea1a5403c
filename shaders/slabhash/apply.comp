// One dispatch of a batch of operations, all of one kind or (KIND = OP_MIXED) each of its own.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_hash.glsl"
#include "invocation.glsl"

layout(constant_id = 3) const uint KIND = 0;

layout(push_constant, std430) uniform Push {
    SlabHash hash;
    uvec2 keys;       // uint32 a operation
    uvec2 values;     // uint32 a operation, in and out
    uvec2 kinds;      // a byte a operation, if KIND is OP_MIXED
    uvec2 statuses;   // a byte a operation, out
    uvec2 pending;    // a counter of operations given up
    uint count;
    uint rounds;
    uint retry;       // 1: only the operations whose status is STATUS_PENDING
};

const bool VALUES_IN = KIND <= OP_MAX || KIND == OP_DELETE_ALL;
const bool VALUES_OUT = KIND == OP_MIXED || KIND >= OP_DELETE_ALL;

void main() {
    uint i = invocation_index();
    bool enabled = i < count;
    uint before = STATUS_PENDING;
    if (enabled && retry != 0u) before = byte_load(statuses, i);
    bool todo = enabled && before == STATUS_PENDING;
    uint kind = KIND;
    if (KIND == OP_MIXED) kind = todo ? byte_load(kinds, i) : OP_FIND;
    uint key = 0u, value = 0u;
    if (todo) {
        key = plain_load(address_at(keys, i, 2u));
        bool counts = kind == OP_DELETE_ALL && retry == 0u;
        if (VALUES_IN && !counts && values != uvec2(0u)) value = plain_load(address_at(values, i, 2u));
    }
    SlabCursor cursor = slab_cursor(hash.pool);
    uint status = slab_hash_apply(hash, cursor, kind, key, value, todo, rounds);
    if (!todo) status = before;
    byte_store(statuses, i, count, status);
    if (VALUES_OUT && todo && kind >= OP_DELETE_ALL) plain_store(address_at(values, i, 2u), value);
    uint left = subgroupAdd(todo && status == STATUS_PENDING ? 1u : 0u);
    if (left != 0u && subgroupElect()) atomic_add(pending, left);
}
