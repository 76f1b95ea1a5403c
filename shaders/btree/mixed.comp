// One dispatch of a batch with operations that ask for order, neighbours and ranges, all of one kind or (KIND = OP_MIXED)
// each of its own, beside updates and lookups.
//
// Of a mixed batch, a workgroup sorts its operations by the function that does them, so that most subgroups call one.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_range.glsl"
#include "combine.glsl"
#include "workgroup_sum.glsl"

layout(constant_id = 3) const uint KIND = 0;

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 top;          // entries; where operations begin
    uvec2 keys;         // uint32 an operation; of a range, its least key
    uvec2 values;       // uint32 an operation, in and out
    uvec2 kinds;        // a byte an operation, if KIND is OP_MIXED
    uvec2 highs;        // uint32 an operation: of a range, its greatest key
    uvec2 windows;      // uint32 an operation: where its pairs go; 0: each one's own number
    uvec2 statuses;     // a byte an operation, out
    uvec2 pending;      // a counter of operations left pending
    uvec2 out_keys;     // `width` words a window, out
    uvec2 out_values;
    uint count;
    uint width;
    uint rounds;        // and in the upper 8 bits, those of the top
    uint retry;         // 1: only the operations whose status is STATUS_PENDING
};

const uint ROUNDS_MASK = 0xffffffu;

// The functions that operations are done by.
const uint APPLIES = 0u;   // btree_apply
const uint FLOORS = 1u;    // btree_floor
const uint WALKS = 2u;     // btree_range

uint function_of(uint kind) {
    return !op_ordered(kind) ? APPLIES : kind == OP_PREDECESSOR || kind == OP_FLOOR ? FLOORS : WALKS;
}

// Whether a batch may have operations that a function does.
bool in_batch(uint function) { return KIND == OP_MIXED || function_of(KIND) == function; }

// What a lane does.
struct Work {
    uint lane;   // of the workgroup: whose operation it is
    uint kind;
    bool todo;
};

shared uint handed[WORKGROUP];   // between lanes: whose operation each does, then its status

// Hands the workgroup's operations out to its lanes, sorted by function. Collective over the workgroup, as the next.
Work hand_out(uint kind, bool todo) {
    uint function = todo ? function_of(kind) : APPLIES;
    uvec4 same[3];
    for (uint f = 0u; f < 3u; f++) same[f] = subgroupBallot(function == f);
    // Ten bits a function: no workgroup has more than 512 lanes.
    uint mine = 0u, all;
    for (uint f = 0u; f < 3u; f++) mine |= subgroupBallotBitCount(same[f]) << (10u * f);
    uint before = workgroup_before(mine, all);
    uint place = 0u;
    for (uint f = 0u; f < 3u; f++) {
        uint rank = subgroupBallotExclusiveBitCount(same[f]) + ((before >> (10u * f)) & 1023u);
        for (uint g = 0u; g < f; g++) rank += (all >> (10u * g)) & 1023u;
        if (function == f) place = rank;
    }
    handed[place] = workgroup_lane() | (kind << 16) | (todo ? 1u << 31 : 0u);
    barrier();
    uint word = handed[workgroup_lane()];
    barrier();
    return Work(word & 0xffffu, (word >> 16) & 0xffu, (word >> 31) != 0u);
}

// Every lane's status, from the lane that did its operation.
uint hand_back(uint lane, uint status) {
    handed[lane] = status;
    barrier();
    return handed[workgroup_lane()];
}

void main() {
    uint first = workgroup_index() * WORKGROUP, own = first + workgroup_lane();
    uint before = STATUS_PENDING;
    if (own < count && retry != 0u) before = byte_load(statuses, own);
    Work work = Work(workgroup_lane(), KIND, own < count && before == STATUS_PENDING);
    bool stays = own >= count || !work.todo;
    if (KIND == OP_MIXED) {
        if (work.todo) work.kind = byte_load(kinds, own);
        work = hand_out(work.kind, work.todo);
    }

    uint i = first + work.lane, kind = work.kind, function = function_of(kind);
    uint key = 0u, value = 0u;
    BTreePlace start = btree_anywhere();
    if (work.todo) {
        key = plain_load_at(keys, i);
        if (op_inserts(kind)) value = plain_load_at(values, i);
        if (rounds > ROUNDS_MASK) start = btree_top(BTreeTop(top, rounds >> 24), key);
    }
    uint most_rounds = rounds & ROUNDS_MASK;
    uint status = STATUS_PENDING, orphans = 0u;

    if (in_batch(APPLIES)) {
        bool mine = work.todo && function == APPLIES;
        Combined combined = combine(kind, key, value, mine);
        BTreeHint hint = start.level == 0u ? BTreeHint(start.node, SLAB_NULL) : BTreeHint(SLAB_NULL, start.node);
        SlabCursor cursor = slab_cursor();
        uint result = btree_apply(tree, cursor, kind, key, value, mine && combined.leads, most_rounds, hint);
        orphans = subgroupBallotBitCount(subgroupBallot(result > STATUS_ORPHAN));
        result = combine_status(combined, kind, result & ~STATUS_ORPHAN);
        if (mine) status = result;
        if (mine && kind == OP_FIND) plain_store_at(values, i, status == STATUS_FOUND ? value : 0u);
    }

    // Beyond the last key there is none.
    bool strict = kind == OP_SUCCESSOR || kind == OP_PREDECESSOR;
    bool beyond = strict && key == (kind == OP_SUCCESSOR ? ~0u : 0u);
    uint place = 0u;
    if (work.todo && function != APPLIES) {
        place = i;
        if (windows != uvec2(0u)) place = plain_load_at(windows, i);
        place *= width;
    }

    if (in_batch(WALKS)) {
        bool mine = work.todo && function == WALKS, neighbour = kind == OP_SUCCESSOR || kind == OP_CEIL;
        uint high = ~0u;
        if (mine && !neighbour) high = plain_load_at(highs, i);
        uint low = kind == OP_SUCCESSOR ? key + 1u : key;
        uint room = kind == OP_COUNT_RANGE ? 0u : neighbour ? 1u : width;
        uint most = kind == OP_COUNT_RANGE ? ~0u : room;
        uint number;
        BTreePair nearest;
        uint result = btree_range(tree, start, low, high, mine && !beyond, out_keys, out_values, place, room, most,
                                  most_rounds, number, nearest);
        if (mine) status = beyond || (result == STATUS_FOUND && number == 0u) ? STATUS_ABSENT : result;
        if (mine && status != STATUS_PENDING)
            plain_store_at(values, i, status == STATUS_ABSENT ? 0u : neighbour ? nearest.value : number);
    }

    if (in_batch(FLOORS)) {
        bool mine = work.todo && function == FLOORS;
        BTreePair nearest;
        uint result = btree_floor(tree, start, kind == OP_PREDECESSOR ? key - 1u : key, mine && !beyond, most_rounds, nearest);
        if (mine) status = beyond ? STATUS_ABSENT : result;
        if (mine && status != STATUS_PENDING) plain_store_at(values, i, status == STATUS_FOUND ? nearest.value : 0u);
        if (mine && status == STATUS_FOUND) {
            plain_store_at(out_keys, place, nearest.key);
            plain_store_at(out_values, place, nearest.value);
        }
    }

    uint left = orphans + subgroupBallotBitCount(subgroupBallot(work.todo && status == STATUS_PENDING));
    if (left != 0u && subgroupElect()) atomic_add(pending, left);
    if (KIND == OP_MIXED) status = hand_back(work.lane, status);
    byte_store(statuses, own, count, stays ? before : status);
}
