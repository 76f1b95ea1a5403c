// Does a batch of OP_DELETE_ALL. It is not part of apply.comp because that would make apply.comp slower.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_hash.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    SlabHash hash;
    uvec2 keys;       // one an operation
    uvec2 counts;     // how many pairs of each key were deleted, in and out
    uvec2 kinds;      // as apply.comp has them; not read
    uvec2 statuses;   // a byte an operation, out
    uvec2 pending;    // a counter of operations left pending
    uint count;
    uint visits;
    uint retry;       // 1: only the operations whose status is STATUS_PENDING, which go on counting
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
    uint status = slab_hash_delete_all(hash, key, deleted, todo, visits);
    byte_store(statuses, i, count, todo ? status : before);
    if (todo) VKDS_STORE(address_at(counts, i, VKDS_SHIFT), deleted);
    uint left = subgroupBallotBitCount(subgroupBallot(todo && status == STATUS_PENDING));
    if (left != 0u && subgroupElect()) atomic_add(pending, left);
}
