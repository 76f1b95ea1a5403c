// Finds the operations of a chunk that have equal keys, with a hash table of their indices. If it finds none, the
// kernels after this one have no workgroups.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "equals.glsl"
#include "hash.glsl"
#include "width.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 state;
    uvec2 keys;       // one per operation
    uvec2 statuses;   // one byte per operation
    uvec2 table;      // two words per operation, each EQUALS_NONE or the index of an operation with the place's key
    Equals equals;    // output
    uint count;
    uint groups;      // the number of workgroups with an invocation for each operation
    uint kind;
};

// The group of a key: the index of the operation that entered the key into the table.
uint group_of(uint i, K key) {
    uint places = 2u * count, at = hash_reduce(hash_mix(key), places);
    for (uint probes = 0u; probes < places; probes++) {
        uvec2 place = address_at(table, at, 2u);
        uint there = atomic_load(place);
        if (there == EQUALS_NONE) there = atomic_cas(place, EQUALS_NONE, i);
        if (there == EQUALS_NONE) return i;
        if (there < count && VKDS_LOAD_AT(keys, there) == key) return there;
        at = at + 1u == places ? 0u : at + 1u;
    }
    return i;
}

// lower and raise: the minimum and the maximum of a word and an index, by compare-and-swap, because atomic_min and
// atomic_max are not atomic on every driver (memory.glsl). If the swap fails, another invocation has moved the word
// towards its own index, so the number of rounds is bounded.
void lower(uvec2 word, uint i) {
    for (uint now = atomic_load(word); now > i;) {
        uint before = atomic_cas(word, now, i);
        if (before == now || before > now) break;
        now = before;
    }
}
void raise(uvec2 word, uint i) {
    for (uint now = atomic_load(word); now < i;) {
        uint before = atomic_cas(word, now, i);
        if (before == now || before < now) break;
        now = before;
    }
}

void main() {
    uint i = invocation_index();
    bool repeats = false;
    if (i < count) {
        uint group = group_of(i, VKDS_LOAD_AT(keys, i));
        plain_store_at(equals.groups, i, group);
        repeats = group != i;
        if (repeats) {
            bool done = kind == OP_INSERT || byte_load(statuses, i) != STATUS_PENDING;
            if (done) lower(address_at(equals.firsts, group, 2u), i);
            raise(address_at(equals.lasts, group, 2u), i);
        }
    }
    if (subgroupAny(repeats) && subgroupElect()) atomic_store(address_add(state, STATE_ORDER_ARGS), groups);
}
