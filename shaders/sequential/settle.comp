// Gives operations with equal keys the statuses of their order, when what was marked has been done.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "equals.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;       // in order
    uvec2 sources;    // of each its index in the chunk
    uvec2 statuses;   // a byte an operation
    uvec2 marks;      // likewise: what became of those that were marked
    uvec2 pending;    // a counter of operations left pending
    uint count;
    uint kind;        // OP_INSERT, OP_INSERT_UNIQUE, or one that updates in place
};

// Of insertions all are done if the last one is, which makes the others' effect none: no room is needed for those that
// found none. The first has inserted the key if any has.
void settle_insertion(Equals all, uint i, Equal e) {
    if (e.first && e.last) return;
    uint last = last_place(all, i);
    if (last >= count) return;
    uint outcome = byte_load(marks, last);
    // What the status was, though who inserted the key may have told the first one of it already.
    uint own = byte_load_beside(statuses, e.place);
    bool open = own == STATUS_PENDING || e.first && own == (STATUS_INSERTED ^ STATUS_ASSIGNED);
    if (outcome == STATUS_PENDING) {
        if (e.last && open) atomic_add(pending, ~0u);   // it was counted twice
        return;
    }
    if (open) {
        byte_flip(statuses, e.place, STATUS_ASSIGNED);
        atomic_add(pending, ~0u);
    }
    bool inserted = own == STATUS_INSERTED && !e.first;
    if (inserted) byte_flip(statuses, e.place, STATUS_INSERTED ^ STATUS_ASSIGNED);
    if (inserted || e.last && outcome == STATUS_INSERTED) {
        uint first = first_place(all, i);
        if (first < count) byte_flip(statuses, first, STATUS_INSERTED ^ STATUS_ASSIGNED);
    }
}

// Of insertions of unique keys the first one trades places with the one that got in.
void settle_unique(Equals all, uint i, Equal e) {
    if (e.first || byte_load_beside(statuses, e.place) != STATUS_INSERTED) return;
    uint first = first_place(all, i);
    if (first >= count || byte_load(marks, first) != STATUS_ASSIGNED) return;
    byte_flip(statuses, e.place, STATUS_INSERTED ^ STATUS_FOUND);
    byte_flip(statuses, first, STATUS_INSERTED ^ STATUS_FOUND);
}

// Of updates in place all have their effect, in whatever order: the first one that is done trades places with the one
// that inserted. Pending ones before it found no room, or came before the key was there; they are few.
void settle_update(Equals all, uint i, Equal e) {
    if (e.first || byte_load_beside(statuses, e.place) != STATUS_INSERTED) return;
    K key = VKDS_LOAD_AT(all.keys, i);
    for (uint at = lower_bound(all.keys, 0u, i, key); at < i; at++) {
        uint place = plain_load_at(all.sources, at);
        if (place < count && byte_load_beside(statuses, place) == STATUS_ASSIGNED) {
            byte_flip(statuses, e.place, STATUS_INSERTED ^ STATUS_ASSIGNED);
            byte_flip(statuses, place, STATUS_INSERTED ^ STATUS_ASSIGNED);
            return;
        }
    }
}

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    Equals all = Equals(keys, sources, count);
    Equal e = equal_at(all, i);
    if (e.place >= count) return;
    if (op_updates_in_place(kind)) settle_update(all, i, e);
    else if (kind == OP_INSERT_UNIQUE) settle_unique(all, i, e);
    else settle_insertion(all, i, e);
}
