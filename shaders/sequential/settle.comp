// Gives operations with equal keys the statuses that they would have one after another. The marked operations have been
// done again before.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "equals.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    Equals equals;
    uvec2 statuses;   // one byte per operation
    uvec2 marks;      // one byte per operation: the status of a marked operation after it was done again
    uvec2 pending;    // counts the operations left pending
    uint count;
    uint kind;        // OP_INSERT, OP_INSERT_UNIQUE, or a kind that updates in place
};

// OP_INSERT: if the last one is done, all are, because it overwrites the values of the others. So an operation that
// found no room needs none. The first one has inserted the key if any has.
void settle_insertion(Equal e, uint i) {
    uint outcome = byte_load(marks, e.last);
    // Whether the operation was pending. The invocation of another operation may already have flipped the first one's
    // status.
    uint own = byte_load_beside(statuses, i);
    bool open = own == STATUS_PENDING || i == e.first && own == (STATUS_INSERTED ^ STATUS_ASSIGNED);
    if (outcome == STATUS_PENDING) {
        if (i == e.last && open) atomic_add(pending, ~0u);   // because both passes counted it
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

// OP_INSERT_UNIQUE: the first one that is done and the one that inserted the key exchange their statuses.
void settle_unique(Equal e, uint i) {
    if (i == e.first || byte_load_beside(statuses, i) != STATUS_INSERTED) return;
    if (byte_load(marks, e.first) != STATUS_ASSIGNED) return;
    byte_flip(statuses, i, STATUS_INSERTED ^ STATUS_FOUND);
    byte_flip(statuses, e.first, STATUS_INSERTED ^ STATUS_FOUND);
}

// Updates in place: all have their effect, in any order. The first one that is done and the one that inserted the key
// exchange their statuses. A pending one before them found no room, or came before the key was there.
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
