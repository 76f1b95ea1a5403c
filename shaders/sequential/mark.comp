// Marks, among operations with equal keys, the one whose value has to stay:
//   - OP_INSERT: the last one.
//   - OP_INSERT_UNIQUE: the first one that is done, if another one inserted the key. With `stepwise` also if it
//     inserted the key itself, because another operation may have come between its steps.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "equals.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    Equals equals;
    uvec2 statuses;   // one byte per operation
    uvec2 marks;      // one byte per operation, STATUS_FOUND before
    uint count;
    uint kind;        // OP_INSERT or OP_INSERT_UNIQUE
    uint mark;        // the mark: STATUS_PENDING, or STATUS_ASSIGNED if there is no value to store
    uint stepwise;    // 1: an operation has several steps, and others may come between them
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
