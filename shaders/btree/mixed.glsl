// Mixed: common code of the kernels of batches with ordered queries. All operations of a batch have one kind, or each
// has its own (KIND = OP_MIXED). A mixed batch takes a dispatch of each of the three kernels. Each kernel does its own
// kinds of operations, and so uses only the registers that these need.
//
// The ordered queries run first, and the other operations after a barrier. So all ordered queries see the tree as it
// was before the batch. That is a correct order, because the operations of a batch are concurrent. But a query that is
// left pending would run after updates. So a gate counts pending queries: if there are any, the updates of the batch
// don't start, and all its queries are done again in one dispatch.
//
// With VKDS_CLOCK each subgroup takes a snapshot for the queries that it does together, and the three kernels may run
// at the same time. There is no gate: pending operations of all kinds are done again.
//
// The kernels call the functions on the tree from main, and from one place: NVIDIA's compiler keeps arrays of nodes in
// local memory if they are passed through more calls, which makes ranges 10% slower.
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
    uvec2 index;        // the entries of the prefix index, where searches begin
    uvec2 keys;         // K per operation; for a range, its least key
    uvec2 values;       // input and output: V per operation
    uvec2 kinds;        // one byte per operation, if KIND is OP_MIXED
    Windows to;
    uvec2 statuses;     // output: one byte per operation; for a mixed batch 0 before
    uvec2 pending;      // counts the operations left pending
    uvec2 out_keys;     // output: the keys of the windows
    uvec2 out_values;
    uint count;
    uint visits;        // the visit budget; the upper 8 bits are the number of bits of the prefix index
    uint slices;        // bits 0 to 4: operations of a mixed batch per lane; bit 31: only pending ones
};

const uint VISITS_MASK = 0xffffffu;

// What an operation needs. Each kernel does one of them.
const uint APPLIES = 0u;   // btree_apply
const uint NEIGHBORS = 1u;
const uint WALKS = 2u;     // ranges and their counts

uint function_of(uint kind) {
    return !op_ordered(kind) ? APPLIES : kind == OP_RANGE || kind == OP_COUNT_RANGE ? WALKS : NEIGHBORS;
}

// The number of leaves that a tile may read for its queries. A mixed batch must be done in one dispatch, also if all of
// its queries count the whole tree.
uint leaf_budget() { return (visits & VISITS_MASK) * TILE; }

bool retries() { return (slices >> 31) != 0u; }
uint operation_slices() { return slices & 31u; }

const uint MOST_SLICES = 8u;
shared uint handed[MOST_SLICES * WORKGROUP];   // the operations of this kernel: number in the workgroup's share, and
                                               // from bit 16 on the kind
shared uint taken;

// A workgroup's part of the batch.
struct Share {
    uint first;
    uint number;
};

// The workgroup's share. In a mixed batch `number` counts only the operations of the given function, which are in
// `handed`. Collective over the workgroup.
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

// A lane's operation.
struct Operation {
    uint number;   // in the batch
    uint kind;
    K key;
    uint before;   // its status before
    bool todo;
    BTreePlace start;
};

// The lane's operation among those of the share from `next` on.
Operation operation(Share share, uint next) {
    Operation o = Operation(share.first + workgroup_lane(), KIND, K(0u), STATUS_PENDING, false, btree_anywhere(tree));
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
    return o;
}

// What a neighbour query searches for.
struct Sought {
    bool upward;
    bool beyond;   // nothing, because its own key is the last one and does not count
    K from;        // the first key that counts
};

Sought sought(Operation o) {
    bool strict = o.kind == OP_SUCCESSOR || o.kind == OP_PREDECESSOR;
    bool upward = o.kind == OP_SUCCESSOR || o.kind == OP_CEIL;
    K from = !strict ? o.key : upward ? VKDS_NEXT(o.key) : VKDS_BEFORE(o.key);
    return Sought(upward, strict && o.key == K(upward ? ~0u : 0u), from);
}

// The index of the first pair of an operation in the arrays of pairs.
uint pairs_place(Operation o) {
    uint place = o.number;
    uvec2 windows = to.windows;
    if (o.todo && windows != uvec2(0u)) place = plain_load_at(windows, o.number);
    return place * to.width;
}

// The counter of pending operations of a function.
uvec2 counter_of(uint function) {
    uvec2 counter = pending;
#ifndef VKDS_CLOCK
    if (KIND == OP_MIXED && function != APPLIES) counter = to.gate;
#endif
    return counter;
}

// Writes an operation's status, and counts the pending operations of the function, and orphans.
void finish(Operation o, uint function, uint status, uint orphans) {
    if (KIND != OP_MIXED) byte_store(statuses, o.number, count, o.todo ? status : o.before);
    // Other invocations write the other bytes of the word.
    else if (o.todo && status != STATUS_PENDING)
        atomic_or(address_add(statuses, o.number & ~3u), status << (8u * (o.number & 3u)));
    uint left = orphans + subgroupBallotBitCount(subgroupBallot(o.todo && status == STATUS_PENDING));
    if (left != 0u && subgroupElect()) atomic_add(counter_of(function), left);
}

#endif
