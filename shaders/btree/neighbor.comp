// Finds the pair next to each query's key, above or below it. Without `strict` the key itself counts, too.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "neighbors.glsl"
#include "length.glsl"
#include "invocation.glsl"

// 1: find the least key from the query on; 0: the greatest key up to it
layout(constant_id = 17) const uint UPWARD = 1;

layout(push_constant, std430) uniform Push {
    BTree tree;
    BTreePrefixIndex index;
    uvec2 keys;         // K per query
    uvec2 out_keys;     // output: K per query, 0 if there is none; if pending, the key to continue from
    uvec2 out_values;   // output: V per query, 0 if there is none
    uvec2 statuses;     // output, with `resume` also input: one byte per query, PENDING, FOUND or ABSENT
    uvec2 left;         // counts the pending queries
    Length count;
    uint strict;        // 1: the query's own key does not count
    uint resume;        // 1: continue the pending queries
    uint visits;        // leaves that a tile may visit for each of its lanes
};

void main() {
    uint n = invocation_index(), end = length_of(count);
    uint before = STATUS_PENDING;
    bool asked = n < end;
    if (resume != 0u && asked) {
        before = byte_load(statuses, n);
        asked = before == STATUS_PENDING;
    }
    K key = K(0u);
    if (asked) key = VKDS_LOAD_AT(resume != 0u ? out_keys : keys, n);
    bool beyond = asked && resume == 0u && strict != 0u && !btree_step_on(UPWARD != 0u, key);
    K found_key;
    V value;
    uint status = btree_nearest(tree, index, UPWARD != 0u, key, asked && !beyond, visits * TILE, found_key, value);
    if (beyond) status = STATUS_ABSENT;
    if (asked) {
        VKDS_STORE_AT(out_keys, n, status == STATUS_ABSENT ? K(0u) : found_key);
        VKDS_STORE_AT(out_values, n, status == STATUS_FOUND ? value : V(0u));
    }
    byte_store(statuses, n, end, asked ? status : before);
    uint pending = subgroupAdd(asked && status == STATUS_PENDING ? 1u : 0u);
    if (pending != 0u && gl_SubgroupInvocationID == 0u) atomic_add(left, pending);
}
