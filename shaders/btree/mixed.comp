// A batch with operations that ask for order, neighbours and ranges, all of one kind or (KIND = OP_MIXED) each of its own,
// beside updates and lookups. A mixed batch takes a dispatch for each FUNCTION, which may run beside each other: each
// does the operations that are its own, and has the registers that these take.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_range.glsl"
#include "combine.glsl"
#include "workgroup.glsl"

layout(constant_id = 3) const uint KIND = 0;
layout(constant_id = 5) const uint FUNCTION = 0;   // of a mixed batch

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 top;          // entries; where operations begin
    uvec2 keys;         // uint32 an operation; of a range, its least key
    uvec2 values;       // uint32 an operation, in and out
    uvec2 kinds;        // a byte an operation, if KIND is OP_MIXED
    uvec2 highs;        // uint32 an operation: of a range, its greatest key
    uvec2 windows;      // uint32 an operation: where its pairs go; 0: each one's own number
    uvec2 statuses;     // a byte an operation, out; 0 at first of a mixed batch
    uvec2 pending;      // a counter of operations left pending
    uvec2 out_keys;     // `width` words a window, out
    uvec2 out_values;
    uint count;
    uint width;
    uint rounds;        // and in the upper 8 bits, those of the top
    uint slices;        // of an operation a lane, that a workgroup looks at; bit 31: only those that are pending
};

const uint ROUNDS_MASK = 0xffffffu;

// The functions that operations are done by.
const uint APPLIES = 0u;   // btree_apply
const uint FLOORS = 1u;    // btree_floor
const uint WALKS = 2u;     // btree_range

uint function_of(uint kind) {
    return !op_ordered(kind) ? APPLIES : kind == OP_PREDECESSOR || kind == OP_FLOOR ? FLOORS : WALKS;
}

const uint KIND_FUNCTION = KIND < OP_SUCCESSOR ? APPLIES : KIND == OP_PREDECESSOR || KIND == OP_FLOOR ? FLOORS : WALKS;
const uint DOES = KIND == OP_MIXED ? FUNCTION : KIND_FUNCTION;

bool retries() { return (slices >> 31) != 0u; }
uint operation_slices() { return slices & 31u; }

const uint MOST_SLICES = 8u;
shared uint handed[MOST_SLICES * WORKGROUP];   // operations that are this dispatch's: the number in the workgroup, and the kind
shared uint taken;

// Gathers the operations of a workgroup's slices that are this dispatch's: their number. Collective over the workgroup.
uint hand_out(uint first) {
    if (workgroup_lane() == 0u) taken = 0u;
    barrier();
    for (uint s = 0u; s < operation_slices(); s++) {
        uint nth = s * WORKGROUP + workgroup_lane(), i = first + nth;
        uint before = STATUS_PENDING, kind = OP_MIXED;
        if (i < count && retries()) before = byte_load(statuses, i);
        if (i < count) kind = byte_load(kinds, i);
        bool mine = i < count && before == STATUS_PENDING && function_of(kind) == DOES;
        uvec4 all = subgroupBallot(mine);
        uint place = 0u;
        if (subgroupElect()) place = atomicAdd(taken, subgroupBallotBitCount(all));
        place = subgroupBroadcastFirst(place) + subgroupBallotExclusiveBitCount(all);
        if (mine) handed[place] = nth | (kind << 16);
    }
    barrier();
    return taken;
}

// Does operation i. Returns its status. Collective over the subgroup.
uint work(uint i, uint kind, bool todo) {
    uint key = 0u, value = 0u;
    BTreePlace start = btree_anywhere();
    if (todo) {
        key = plain_load_at(keys, i);
        if (op_inserts(kind)) value = plain_load_at(values, i);
        if (rounds > ROUNDS_MASK) start = btree_top(BTreeTop(top, rounds >> 24), key);
    }
    uint most_rounds = rounds & ROUNDS_MASK, status, orphans = 0u;

    // Beyond the last key there is none.
    bool strict = kind == OP_SUCCESSOR || kind == OP_PREDECESSOR;
    bool beyond = strict && key == (kind == OP_SUCCESSOR ? ~0u : 0u);
    bool neighbour = kind != OP_RANGE && kind != OP_COUNT_RANGE;
    uint place = 0u;
    if (todo && DOES != APPLIES) {
        place = i;
        if (windows != uvec2(0u)) place = plain_load_at(windows, i);
        place *= width;
    }

    if (DOES == APPLIES) {
        Combined combined = combine(kind, key, value, todo);
        BTreeHint hint = start.level == 0u ? BTreeHint(start.node, SLAB_NULL) : BTreeHint(SLAB_NULL, start.node);
        SlabCursor cursor = slab_cursor();
        status = btree_apply(tree, cursor, kind, key, value, todo && combined.leads, most_rounds, hint);
        orphans = subgroupBallotBitCount(subgroupBallot(status > STATUS_ORPHAN));
        status = combine_status(combined, kind, status & ~STATUS_ORPHAN);
        if (todo && kind == OP_FIND) plain_store_at(values, i, status == STATUS_FOUND ? value : 0u);
    } else if (DOES == WALKS) {
        uint high = ~0u, number;
        if (todo && !neighbour) high = plain_load_at(highs, i);
        uint room = kind == OP_COUNT_RANGE ? 0u : neighbour ? 1u : width;
        uint most = kind == OP_COUNT_RANGE ? ~0u : room;
        BTreePair nearest;
        status = btree_range(tree, start, kind == OP_SUCCESSOR ? key + 1u : key, high, todo && !beyond, out_keys, out_values, place,
                             room, most, most_rounds, number, nearest);
        if (beyond || (status == STATUS_FOUND && number == 0u)) status = STATUS_ABSENT;
        if (todo && status != STATUS_PENDING)
            plain_store_at(values, i, status == STATUS_ABSENT ? 0u : neighbour ? nearest.value : number);
    } else {
        BTreePair nearest;
        status = btree_floor(tree, start, kind == OP_PREDECESSOR ? key - 1u : key, todo && !beyond, most_rounds, nearest);
        if (beyond) status = STATUS_ABSENT;
        if (todo && status != STATUS_PENDING) plain_store_at(values, i, status == STATUS_FOUND ? nearest.value : 0u);
        if (todo && status == STATUS_FOUND) {
            plain_store_at(out_keys, place, nearest.key);
            plain_store_at(out_values, place, nearest.value);
        }
    }

    uint left = orphans + subgroupBallotBitCount(subgroupBallot(todo && status == STATUS_PENDING));
    if (left != 0u && subgroupElect()) atomic_add(pending, left);
    return status;
}

void main() {
    uint lane = workgroup_lane(), group = workgroup_index();
    if (KIND == OP_MIXED) {
        uint first = group * operation_slices() * WORKGROUP, number = hand_out(first);
        [[dont_unroll]] for (uint next = 0u; next < number; next += WORKGROUP) {
            bool todo = next + lane < number;
            uint word = handed[todo ? next + lane : 0u];
            uint i = first + (word & 0xffffu);
            uint status = work(i, word >> 16, todo);
            // Others write the rest of the word.
            if (todo && status != STATUS_PENDING) atomic_or(address_add(statuses, i & ~3u), status << (8u * (i & 3u)));
        }
    } else {
        uint i = group * WORKGROUP + lane, before = STATUS_PENDING;
        if (i < count && retries()) before = byte_load(statuses, i);
        bool todo = i < count && before == STATUS_PENDING;
        uint status = work(i, KIND, todo);
        byte_store(statuses, i, count, todo ? status : before);
    }
}
