// Mixed: common code of the kernels of batches with ordered queries. All operations of a batch have one kind, or (KIND
// = OP_MIXED) each has its own. A mixed batch takes a dispatch of each of the three kernels: each does its own kinds of
// operations, and uses only the registers that these need.
//
// The ordered queries run first, and the other operations after a barrier. So all ordered queries see the tree as it
// was before the batch. That is a correct order, because the operations of a batch are concurrent. But a query that is
// left pending would run after updates. So a gate counts pending queries: if there are any, the updates of the batch
// don't start, and all its queries are done again in one dispatch.
//
// With VKDS_CLOCK each subgroup takes a snapshot for the queries that it does together, and the three kernels may run
// at the same time. There is no gate: pending operations of all kinds are done again.
//
// The kernels call the functions on the tree from main, and from one place: NVIDIA's compiler keeps arrays of
// nodes in local memory if they are passed through more calls, which makes ranges 10% slower.
#ifndef VKDS_BTREE_MIXED_GLSL
#define VKDS_BTREE_MIXED_GLSL

#include "btree_node.glsl"
#include "btree_prefix_index.glsl"
#include "length.glsl"
#include "operation.glsl"
#include "results.glsl"
#include "workgroup.glsl"

layout(constant_id = 16) const uint KIND = 0;

// Further arguments of ordered queries, for which push constants have no room.
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Windows {
    uvec2 highs;        // K per operation: the greatest key of a range
    uvec2 windows;      // uint32 per operation: the window of its pairs; 0: the operation's number
    uvec2 gate;         // in a mixed batch: a word, 0 at first, that counts the queries left pending
    Length number;      // the number of operations; statuses after it must not be changed
    uint width;         // the pairs of a window
};

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 index;        // entries; where operations begin
    uvec2 keys;         // K an operation; of a range, its least key
    uvec2 values;       // V an operation, in and out
    uvec2 kinds;        // a byte an operation, if KIND is OP_MIXED
    Windows to;
    uvec2 statuses;     // a byte an operation, out; 0 at first of a mixed batch
    uvec2 pending;      // a counter of operations left pending
    uvec2 out_keys;     // of windows, out
    uvec2 out_values;
    uint count;
    uint visits;        // and in the upper 8 bits, those of the prefix index
    uint slices;        // of an operation a lane, that a workgroup looks at; bit 31: only those that are pending
};

const uint VISITS_MASK = 0xffffffu;

// The functions that operations are done by, a kernel each.
const uint APPLIES = 0u;   // btree_apply
const uint FLOORS = 1u;    // btree_floor
const uint WALKS = 2u;     // btree_range

uint function_of(uint kind) {
    return !op_ordered(kind) ? APPLIES : kind == OP_PREDECESSOR || kind == OP_FLOOR ? FLOORS : WALKS;
}

bool retries() { return (slices >> 31) != 0u; }
uint operation_slices() { return slices & 31u; }

const uint MOST_SLICES = 8u;
shared uint handed[MOST_SLICES * WORKGROUP];   // this dispatch's operations: number in the workgroup, kind
shared uint taken;

// A workgroup's operations: its part of the batch, and their number.
struct Share {
    uint first;
    uint number;
};

// The workgroup's share: of a mixed batch, those of its slices' operations that are a function's. Collective over the
// workgroup.
Share share_of(uint function) {
    Share share = Share(workgroup_index() * WORKGROUP, WORKGROUP);
    if (KIND == OP_MIXED) {
        share.first *= operation_slices();
        if (workgroup_lane() == 0u) taken = 0u;
        barrier();
        for (uint s = 0u; s < operation_slices(); s++) {
            uint nth = s * WORKGROUP + workgroup_lane(), i = share.first + nth;
            uint before = STATUS_PENDING, kind = OP_MIXED;
            if (i < count && retries()) before = byte_load(statuses, i);
            if (i < count) kind = byte_load(kinds, i);
            bool mine = i < count && before == STATUS_PENDING && function_of(kind) == function;
            uvec4 all = subgroupBallot(mine);
            uint place = 0u;
            if (subgroupElect()) place = atomicAdd(taken, subgroupBallotBitCount(all));
            place = subgroupBroadcastFirst(place) + subgroupBallotExclusiveBitCount(all);
            if (mine) handed[place] = nth | (kind << 16);
        }
        barrier();
        share.number = taken;
    }
    return share;
}

// An operation of a lane.
struct Operation {
    uint number;   // in the batch
    uint kind;
    K key;
    uint before;   // its status
    bool todo;
    bool strict;   // it asks for another key than its own
    bool beyond;   // and there is none, since its own is the last
    BTreePlace start;
};

// The lane's operation, of those of the share from `next` on.
Operation operation(Share share, uint next) {
    Operation o = Operation(share.first + workgroup_lane(), KIND, K(0u), STATUS_PENDING, false, false, false,
                            btree_anywhere(tree));
    if (KIND == OP_MIXED) {
        o.todo = next + workgroup_lane() < share.number;
        uint word = handed[o.todo ? next + workgroup_lane() : 0u];
        o.number = share.first + (word & 0xffffu);
        o.kind = word >> 16;
    } else {
        o.todo = o.number < count;
        if (o.todo && retries()) o.before = byte_load(statuses, o.number);
        o.todo = o.todo && o.before == STATUS_PENDING;
    }
    if (o.todo) {
        o.key = VKDS_LOAD_AT(keys, o.number);
        if (visits > VISITS_MASK) o.start = btree_prefix_start(BTreePrefixIndex(index, visits >> 24), o.key);
    }
    o.strict = o.kind == OP_SUCCESSOR || o.kind == OP_PREDECESSOR;
    o.beyond = o.strict && o.key == (o.kind == OP_SUCCESSOR ? K(~0u) : K(0u));
    return o;
}

// The moment that the subgroup's queries see. Collective.
#ifdef VKDS_CLOCK
#define VKDS_MOMENT(O) uint time = btree_snapshot(tree, O.todo);
#else
#define VKDS_MOMENT(O)
#endif

// The place of the first pair of an operation in the arrays for pairs.
uint pairs_place(Operation o) {
    uint place = o.number;
    uvec2 windows = to.windows;
    if (o.todo && windows != uvec2(0u)) place = plain_load_at(windows, o.number);
    return place * to.width;
}

// Where operations of a function are counted that are left pending.
uvec2 counter_of(uint function) {
    uvec2 counter = pending;
#ifndef VKDS_CLOCK
    if (KIND == OP_MIXED && function != APPLIES) counter = to.gate;
#endif
    return counter;
}

// Writes an operation's status, and counts those of its function that are left pending, and orphans.
void finish(Operation o, uint function, uint status, uint orphans) {
    if (KIND != OP_MIXED) byte_store(statuses, o.number, count, o.todo ? status : o.before);
    // Others write the rest of the word.
    else if (o.todo && status != STATUS_PENDING)
        atomic_or(address_add(statuses, o.number & ~3u), status << (8u * (o.number & 3u)));
    uint left = orphans + subgroupBallotBitCount(subgroupBallot(o.todo && status == STATUS_PENDING));
    if (left != 0u && subgroupElect()) atomic_add(counter_of(function), left);
}

#endif
