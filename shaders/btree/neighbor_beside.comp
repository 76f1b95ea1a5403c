// Finds the neighbours of keys while the tree may be changed.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_range.glsl"
#include "results.glsl"
#include "invocation.glsl"

layout(constant_id = 3) const uint UPWARD = 1;   // 1: the nearest key from one on; 0: up to it

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 keys;         // uint32 a query
    uvec2 out_keys;     // uint32 a query, out: 0 where there is none
    uvec2 out_values;
    uvec2 statuses;     // a byte a query, out: found, absent or pending
    uvec2 left;         // a counter of queries left pending
    uint count;
    uint strict;        // 1: the key itself is no neighbour of its own
    uint resume;        // 1: only queries that are pending
    uint rounds;
};

void main() {
    uint i = invocation_index();
    bool todo = i < count;
    uint before = STATUS_PENDING, key = 0u;
    if (todo && resume != 0u) before = byte_load(statuses, i);
    todo = todo && before == STATUS_PENDING;
    if (todo) key = plain_load_at(keys, i);
    // Beyond the last key there is none.
    bool beyond = strict != 0u && key == (UPWARD != 0u ? ~0u : 0u);
    if (strict != 0u) key += UPWARD != 0u ? 1u : ~0u;
    BTreePair pair;
    uint status;
    if (UPWARD != 0u) status = btree_ceil(tree, btree_anywhere(), key, todo && !beyond, rounds, pair);
    else status = btree_floor(tree, btree_anywhere(), key, todo && !beyond, rounds, pair);
    if (beyond) status = STATUS_ABSENT;
    if (todo) {
        plain_store_at(out_keys, i, status == STATUS_FOUND ? pair.key : 0u);
        plain_store_at(out_values, i, status == STATUS_FOUND ? pair.value : 0u);
    }
    byte_store(statuses, i, count, todo ? status : before);
    uint pending = subgroupBallotBitCount(subgroupBallot(todo && status == STATUS_PENDING));
    if (pending != 0u && subgroupElect()) atomic_add(left, pending);
}
