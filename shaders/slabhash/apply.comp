// Does a batch of operations, or its pending operations. All have one kind, or each has its own (KIND = OP_MIXED).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_hash.glsl"
#include "combine.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint KIND = 0;

layout(push_constant, std430) uniform Push {
    SlabHash hash;
    uvec2 keys;       // one per operation
    uvec2 values;     // input and output: one per operation. In sets only counts have values
    uvec2 kinds;      // one byte per operation, if KIND is OP_MIXED
    uvec2 statuses;   // output: one byte per operation
    uvec2 pending;    // counts the operations left pending
    uint count;
    uint visits;
    uint retry;       // 1: does only operations whose status is STATUS_PENDING
};

void main() {
    uint i = invocation_index();
    bool todo = i < count;
    uint before = STATUS_PENDING;
    if (todo && retry != 0u) before = byte_load(statuses, i);
    todo = todo && before == STATUS_PENDING;
    uint kind = KIND;
    if (KIND == OP_MIXED) kind = todo ? byte_load(kinds, i) : OP_FIND;
    bool counts = kind == OP_COUNT_ALL || kind == OP_DELETE_ALL;
    K key = K(0u);
    V value = V(0u);
    if (todo) {
        key = VKDS_LOAD(address_at(keys, i, VKDS_SHIFT));
        bool has_value = (op_inserts(kind) && values != uvec2(0u)) || (kind == OP_DELETE_ALL && retry != 0u);
        if (has_value) value = VKDS_LOAD(address_at(values, i, VKDS_SHIFT));
    }
    Combined combined = combine(kind, key, value, todo);
    SlabCursor cursor = slab_cursor();
    VKDS_EVENT_BEGIN(todo, kind, key, value)
    uint status = slab_hash_apply(hash, cursor, kind, key, value, todo && combined.leads, visits);
    status = combine_status(combined, kind, status);
    VKDS_EVENT_PAIR(todo, TRACE_END, 0u, status, key, value)
    byte_store(statuses, i, count, todo ? status : before);
#ifdef VKDS_SLAB_KEYS
    if (todo && counts) VKDS_STORE(address_at(values, i, VKDS_SHIFT), value);
#else
    if (todo && (counts || kind == OP_FIND))
        VKDS_STORE(address_at(values, i, VKDS_SHIFT), status == STATUS_ABSENT ? V(0u) : value);
#endif
    uint left = subgroupBallotBitCount(subgroupBallot(todo && status == STATUS_PENDING));
    if (left != 0u && subgroupElect()) atomic_add(pending, left);
}
