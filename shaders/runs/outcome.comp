// Computes the statuses of a batch of insertions or deletions, from their sorted keys and whether each key existed
// before. The first operation of a key finds the old state, the others find the result of the first.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "width.glsl"
#include "results.glsl"
#include "operation.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;       // in order, those of equal keys as in the batch
    uvec2 sources;    // the index of each in the batch
    uvec2 found;      // a byte each: whether the key was there
    uvec2 outcomes;   // a word an operation by its number in the batch, out: its status
    uvec2 kinds;      // a byte an operation, in the batch's order; of OP_MIXED alone
    uint count;
    uint kind;        // of all operations, or OP_MIXED: of insertions
};

// What an operation's status is that is the first of its key in the batch, or is not.
uint status_of(uint kind, bool first, bool there) {
    if (kind == OP_DELETE) return first && there ? STATUS_DELETED : STATUS_ABSENT;
    if (first && !there) return STATUS_INSERTED;
    return kind == OP_INSERT_UNIQUE ? STATUS_FOUND : STATUS_ASSIGNED;
}

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    K key = VKDS_LOAD(address_at(keys, i, VKDS_SHIFT));
    bool first = true;
    if (i != 0u) first = VKDS_LOAD(address_at(keys, i - 1u, VKDS_SHIFT)) != key;
    uint source = min(plain_load_at(sources, i), count - 1u);
    uint own = kind == OP_MIXED ? byte_load(kinds, source) : kind;
    plain_store_at(outcomes, source, status_of(own, first, byte_load(found, i) != 0u));
}
