// Marks, of operations with equal keys, the one whose value has to stay: of insertions the last, of insertions of
// unique keys the first, if it was another one that got in; or only in part, where an operation has several steps.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "equals.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;       // in order
    uvec2 sources;    // of each its index in the chunk
    uvec2 statuses;   // a byte an operation
    uvec2 marks;      // likewise, STATUS_FOUND at first
    uint count;
    uint kind;        // OP_INSERT or OP_INSERT_UNIQUE
    uint mark;        // the mark: STATUS_PENDING, or STATUS_ASSIGNED where there is no value to be stored
    uint stepwise;    // 1: an operation has several steps, between which others come
};

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    Equals all = Equals(keys, sources, count);
    Equal e = equal_at(all, i);
    if (e.place >= count) return;
    if (kind != OP_INSERT_UNIQUE) {
        if (e.last && !e.first) byte_flip(marks, e.place, STATUS_FOUND ^ mark);
    } else if (e.first && !e.last && stepwise != 0u) {
        if (byte_load(statuses, e.place) == STATUS_INSERTED) byte_flip(marks, e.place, STATUS_FOUND ^ mark);
    } else if (!e.first && byte_load(statuses, e.place) == STATUS_INSERTED) {
        uint first = first_place(all, i);
        if (first < count && byte_load(statuses, first) != STATUS_PENDING) byte_flip(marks, first, STATUS_FOUND ^ mark);
    }
}
