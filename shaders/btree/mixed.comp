// One dispatch of a batch with operations that ask for order, neighbours and ranges, all of one kind or (KIND = OP_MIXED)
// each of its own, beside updates and lookups.
//
// Of a mixed batch, a workgroup takes several operations a lane, and sorts them by the function that does them, so that
// hardly ever a subgroup calls more than one at a time.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_range.glsl"
#include "combine.glsl"
#include "workgroup.glsl"

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

// A workgroup takes so many slices of an operation a lane.
const uint MOST_SLICES = 4u;
const uint SLICES = KIND == OP_MIXED ? MOST_SLICES : 1u;

shared uint handed[MOST_SLICES * WORKGROUP];         // what each lane does in each slice: see hand_out
shared uint outcome[MOST_SLICES * WORKGROUP];        // the status of each operation
shared uint sums[MOST_SLICES * (WORKGROUP / 4u)];    // of a slice's subgroups: no subgroup has fewer than 4 lanes

// How many operations there are of each function, ten bits each.
uint tally(uvec4 same, uint function) { return subgroupBallotBitCount(same) << (10u * function); }
uint tally_of(uint tallies, uint function) { return (tallies >> (10u * function)) & 1023u; }

// Hands the operations of a workgroup out, sorted by function: the number of one among them, in bits 16 to 23 its kind,
// bit 31: it is to be done. Collective over the workgroup.
void hand_out(uint first) {
    uint word[MOST_SLICES], rank[MOST_SLICES];
    for (uint s = 0u; s < SLICES; s++) {
        uint nth = s * WORKGROUP + workgroup_lane(), i = first + nth;
        uint before = STATUS_PENDING, kind = KIND;
        if (i < count && retry != 0u) before = byte_load(statuses, i);
        bool todo = i < count && before == STATUS_PENDING;
        if (KIND == OP_MIXED && todo) kind = byte_load(kinds, i);
        outcome[nth] = before;
        uint function = todo ? function_of(kind) : APPLIES;
        word[s] = nth | (kind << 16) | (todo ? 1u << 31 : 0u);
        uint mine = 0u;
        rank[s] = function << 16;
        for (uint f = 0u; f < 3u; f++) {
            uvec4 same = subgroupBallot(function == f);
            mine |= tally(same, f);
            if (function == f) rank[s] |= subgroupBallotExclusiveBitCount(same);
        }
        if (gl_SubgroupInvocationID == 0u) sums[s * gl_NumSubgroups + gl_SubgroupID] = mine;
    }
    barrier();
    uint all = 0u, before[MOST_SLICES];
    for (uint s = 0u; s < SLICES; s++) before[s] = 0u;
    for (uint e = 0u; e < SLICES * gl_NumSubgroups; e++) {
        for (uint s = 0u; s < SLICES; s++) if (e == s * gl_NumSubgroups + gl_SubgroupID) before[s] = all;
        all += sums[e];
    }
    for (uint s = 0u; s < SLICES; s++) {
        uint function = rank[s] >> 16, place = (rank[s] & 0xffffu) + tally_of(before[s], function);
        for (uint f = 0u; f < function; f++) place += tally_of(all, f);
        handed[place] = word[s];
    }
    barrier();
}

// Does the operation that a lane has been handed. Collective over the subgroup.
void work(uint first, uint word) {
    bool todo = (word >> 31) != 0u;
    uint nth = word & 0xffffu, i = first + nth, kind = (word >> 16) & 0xffu, function = function_of(kind);
    uint key = 0u, value = 0u;
    BTreePlace start = btree_anywhere();
    if (todo) {
        key = plain_load_at(keys, i);
        if (op_inserts(kind)) value = plain_load_at(values, i);
        if (rounds > ROUNDS_MASK) start = btree_top(BTreeTop(top, rounds >> 24), key);
    }
    uint most_rounds = rounds & ROUNDS_MASK;
    uint status = STATUS_PENDING, orphans = 0u;

    if (in_batch(APPLIES)) {
        bool mine = todo && function == APPLIES;
        if (subgroupAny(mine)) {
            Combined combined = combine(kind, key, value, mine);
            BTreeHint hint = start.level == 0u ? BTreeHint(start.node, SLAB_NULL) : BTreeHint(SLAB_NULL, start.node);
            SlabCursor cursor = slab_cursor();
            uint result = btree_apply(tree, cursor, kind, key, value, mine && combined.leads, most_rounds, hint);
            orphans = subgroupBallotBitCount(subgroupBallot(result > STATUS_ORPHAN));
            result = combine_status(combined, kind, result & ~STATUS_ORPHAN);
            if (mine) status = result;
            if (mine && kind == OP_FIND) plain_store_at(values, i, status == STATUS_FOUND ? value : 0u);
        }
    }

    // Beyond the last key there is none.
    bool strict = kind == OP_SUCCESSOR || kind == OP_PREDECESSOR;
    bool beyond = strict && key == (kind == OP_SUCCESSOR ? ~0u : 0u);
    uint place = 0u;
    if (todo && function != APPLIES) {
        place = i;
        if (windows != uvec2(0u)) place = plain_load_at(windows, i);
        place *= width;
    }

    if (in_batch(WALKS)) {
        bool mine = todo && function == WALKS, neighbour = kind == OP_SUCCESSOR || kind == OP_CEIL;
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
        bool mine = todo && function == FLOORS;
        BTreePair nearest;
        uint result = btree_floor(tree, start, kind == OP_PREDECESSOR ? key - 1u : key, mine && !beyond, most_rounds, nearest);
        if (mine) status = beyond ? STATUS_ABSENT : result;
        if (mine && status != STATUS_PENDING) plain_store_at(values, i, status == STATUS_FOUND ? nearest.value : 0u);
        if (mine && status == STATUS_FOUND) {
            plain_store_at(out_keys, place, nearest.key);
            plain_store_at(out_values, place, nearest.value);
        }
    }

    if (todo) outcome[nth] = status;
    uint left = orphans + subgroupBallotBitCount(subgroupBallot(todo && status == STATUS_PENDING));
    if (left != 0u && subgroupElect()) atomic_add(pending, left);
}

void main() {
    uint first = workgroup_index() * SLICES * WORKGROUP;
    hand_out(first);
    [[dont_unroll]] for (uint s = 0u; s < SLICES; s++) work(first, handed[s * WORKGROUP + workgroup_lane()]);
    barrier();
    for (uint s = 0u; s < SLICES; s++) {
        uint nth = s * WORKGROUP + workgroup_lane();
        byte_store(statuses, first + nth, count, outcome[nth]);
    }
}
