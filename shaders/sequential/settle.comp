// Gives operations with equal keys the statuses of their order, when what was marked has been done.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "equals.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    Equals equals;
    uvec2 statuses;   // a byte an operation
    uvec2 marks;      // likewise: what became of those that were marked
    uvec2 pending;    // a counter of operations left pending
    uint count;
    uint kind;        // OP_INSERT, OP_INSERT_UNIQUE, or one that updates in place
};

// Of insertions all are done if the last one is, which makes the others' effect none: no room is needed for those that
// found none. The first has inserted the key if any has.
void settle_insertion(Equal e, uint i) {
    uint outcome = byte_load(marks, e.last);
    // What the status was, though who inserted the key may have told the first one of it already.
    uint own = byte_load_beside(statuses, i);
    bool open = own == STATUS_PENDING || i == e.first && own == (STATUS_INSERTED ^ STATUS_ASSIGNED);
    if (outcome == STATUS_PENDING) {
        if (i == e.last && open) atomic_add(pending, ~0u);   // it was counted twice
        return;
    }
    if (open) {
        byte_flip(statuses, i, STATUS_ASSIGNED);
        atomic_add(pending, ~0u);
    }
    bool inserted = own == STATUS_INSERTED && i != e.first;
    if (inserted) byte_flip(statuses, i, STATUS_INSERTED ^ STATUS_ASSIGNED);
    if (inserted || i == e.last && outcome == STATUS_INSERTED)
        byte_flip(statuses, e.first, STATUS_INSERTED ^ STATUS_ASSIGNED);
}

// Of insertions of unique keys the first one that is done trades places with the one that got in.
void settle_unique(Equal e, uint i) {
    if (i == e.first || byte_load_beside(statuses, i) != STATUS_INSERTED) return;
    if (byte_load(marks, e.first) != STATUS_ASSIGNED) return;
    byte_flip(statuses, i, STATUS_INSERTED ^ STATUS_FOUND);
    byte_flip(statuses, e.first, STATUS_INSERTED ^ STATUS_FOUND);
}

// Of updates in place all have their effect, in whatever order: the first one that is done trades places with the one
// that inserted. Pending ones before it found no room, or came before the key was there.
void settle_update(Equal e, uint i) {
    if (i == e.first || byte_load_beside(statuses, i) != STATUS_INSERTED) return;
    byte_flip(statuses, i, STATUS_INSERTED ^ STATUS_ASSIGNED);
    byte_flip(statuses, e.first, STATUS_INSERTED ^ STATUS_ASSIGNED);
}

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    Equal e = equals_of(equals, i, count);
    if (e.first == e.last || e.first >= count || e.last >= count) return;
    if (op_updates_in_place(kind)) settle_update(e, i);
    else if (kind == OP_INSERT_UNIQUE) settle_unique(e, i);
    else settle_insertion(e, i);
}
