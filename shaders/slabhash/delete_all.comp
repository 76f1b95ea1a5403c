// Does a batch of OP_DELETE_ALL. It is not part of apply.comp because that would make apply.comp slower.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_hash.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    SlabHash hash;
    uvec2 keys;       // one per operation
    uvec2 counts;     // the number of deleted pairs of each key: output, and with `retry` input
    uvec2 kinds;      // not read; here because apply.comp has it
    uvec2 statuses;   // output: one byte per operation
    uvec2 pending;    // counts the operations left pending
    uint count;
    uint visits;
    uint retry;       // 1: does only operations whose status is STATUS_PENDING, and adds to their counts
};

void main() {
    uint i = invocation_index();
    bool todo = i < count;
    uint before = STATUS_PENDING;
    if (todo && retry != 0u) before = byte_load(statuses, i);
    todo = todo && before == STATUS_PENDING;
    K key = K(0u);
    V deleted = V(0u);
    if (todo) key = VKDS_LOAD(address_at(keys, i, VKDS_SHIFT));
    if (todo && retry != 0u) deleted = VKDS_LOAD(address_at(counts, i, VKDS_SHIFT));
    VKDS_EVENT_BEGIN(todo, OP_DELETE_ALL, key, deleted)
    uint status = slab_hash_delete_all(hash, key, deleted, todo, visits);
    VKDS_EVENT_PAIR(todo, TRACE_END, 0u, status, key, deleted)
    byte_store(statuses, i, count, todo ? status : before);
    if (todo) VKDS_STORE(address_at(counts, i, VKDS_SHIFT), deleted);
    uint left = subgroupBallotBitCount(subgroupBallot(todo && status == STATUS_PENDING));
    if (left != 0u && subgroupElect()) atomic_add(pending, left);
}
