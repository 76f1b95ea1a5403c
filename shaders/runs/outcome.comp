// What becomes of the operations of a batch of insertions or of deletions, from their keys in order and whether each
// key was there before: the first operation of a key meets what was there, the others meet what the first has done.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "results.glsl"
#include "operation.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;       // in order, those of equal keys as in the batch
    uvec2 sources;    // the index of each in the batch
    uvec2 found;      // a byte each: whether the key was there
    uvec2 outcomes;   // a word an operation by its number in the batch, out: its status
    uint count;
    uint kind;        // OP_INSERT or OP_DELETE
};

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    uint key = plain_load(address_at(keys, i, 2u));
    bool first = true;
    if (i != 0u) first = plain_load(address_at(keys, i - 1u, 2u)) != key;
    bool there = byte_load(found, i) != 0u;
    uint status;
    if (kind == OP_INSERT) status = first && !there ? STATUS_INSERTED : STATUS_ASSIGNED;
    else status = first && there ? STATUS_DELETED : STATUS_ABSENT;
    plain_store_at(outcomes, min(plain_load_at(sources, i), count - 1u), status);
}
