// Marks, of operations with equal keys, the one whose value has to stay. Of insertions that is the last one. Of
// insertions of unique keys it is the first one that is done, if another one got in, or if it got in only in part, as
// an operation of several steps may.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "equals.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    Equals equals;
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
    Equal e = equals_of(equals, i, count);
    if (e.first == e.last) return;
    bool inserted = byte_load(statuses, i) == STATUS_INSERTED;
    if (kind != OP_INSERT_UNIQUE) {
        if (i == e.last) byte_flip(marks, i, STATUS_FOUND ^ mark);
    } else if (i == e.first) {
        if (stepwise != 0u && inserted) byte_flip(marks, i, STATUS_FOUND ^ mark);
    } else if (inserted) {
        byte_flip(marks, e.first, STATUS_FOUND ^ mark);
    }
}
