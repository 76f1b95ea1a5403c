// Computes the statuses of a batch of insertions and deletions. The keys are sorted, and it is known which were there
// before the batch. The first operation of a key finds that state, the others find the result of the first.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "width.glsl"
#include "results.glsl"
#include "operation.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;       // sorted; equal keys in the order of the batch
    uvec2 sources;    // the index of each key's operation in the batch
    uvec2 found;      // one byte per key: whether it was there before the batch
    uvec2 outcomes;   // output, one word per operation of the batch: its status
    uvec2 kinds;      // one byte per operation of the batch, for OP_MIXED only
    uint count;
    uint kind;        // of all operations, or OP_MIXED for different insertions
};

// The status of an operation. `first`: it is the first with its key in the batch; `there`: the key was there before.
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
