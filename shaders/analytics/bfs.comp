// Breadth-first search that optimizes its direction: large frontiers are not expanded. Instead, each unreached vertex
// looks for a reached neighbour, and stops at the first one (Beamer, Asanovic and Patterson, Direction-Optimizing
// Breadth-First Search, 2012).
//
// A bitmap has the reached vertices. The invocation that sets a vertex's bit has reached it. A round in the other
// direction, a pull, reads one bitmap and writes another one. If an unreached vertex has a neighbour in the bitmap,
// that neighbour is in the last frontier, because the neighbours of earlier frontiers are all reached.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "traversal.glsl"
#define BITMAP_BITS WORKGROUP
#include "../primitives/bitmap.glsl"

// Push constants. values: distances, ~0 if not reached; marks: two bitmaps; extra: parents, or 0 if not wanted; own: 1
// if every arc has its opposite, so that pulls see all arcs; more: the number of arcs, possibly estimated.
const uint CONTROL_BITMAP = CONTROL_OWN;   // which bitmap is valid

const uint MODE_PULL = MODE_OWN;

const uint ALPHA = 14u;   // as in section 5 of the paper
const uint BETA = 24u;

shared uint bitmap_now;

uint bitmap_length() { return (graph.vertices + 127u) / 128u * 4u; }   // in words
uvec2 bitmap_word(uint which, uint v) { return address_at(marks, which * bitmap_length() + v / 32u, 2u); }
uvec2 reached_word(uint v) { return bitmap_word(bitmap_now, v); }
uint reached_bit(uint v) { return 1u << (v & 31u); }

void reach(uint u, uint distance, uint from) {
    plain_store_at(values, u, distance);
    if ((extra.x | extra.y) != 0u) plain_store_at(extra, u, from);
}

uint departure_value(uint v) { return round_now + 1u; }

uvec2 arrival_look(uint u, uint place) { return uvec2(atomic_load(reached_word(u)), 0u); }

uint arrival_take(uint u, uvec2 looked, uint value, uint from) {
    uint bit = reached_bit(u);
    if ((looked.x & bit) != 0u) return TAKEN_NOT;
    if ((atomic_or(reached_word(u), bit) & bit) != 0u) return TAKEN_NOT;
    reach(u, value, from);
    return TAKEN_NEXT;
}

void keep_back(uint u[BATCH], inout uint taken[BATCH]) {}
void put_aside(uint u[BATCH], uint taken[BATCH]) {}

#ifdef SMALL
void main() {
    if (control_load(CONTROL_DONE) != 0u) return;
    uint entries, lanes;
    uint mode = rounds_begin(entries, lanes);
    uint seen = control_load(CONTROL_SEEN);
    uint bitmap = control_load(CONTROL_BITMAP) & 1u ^ (mode == MODE_PULL ? 1u : 0u);
    if (workgroup_lane() == 0u) bitmap_now = bitmap;
    barrier();
    expand_rounds(entries, lanes, rounds);
    if (workgroup_lane() != 0u) return;
    bool small = frontier_small(entries, lanes);
    if (!small) seen += lanes;   // the few lanes of small rounds are left out
    control_lengths(entries, lanes);
    plain_store_at(control, CONTROL_SEEN, seen);
    plain_store_at(control, CONTROL_BITMAP, bitmap);
    if (entries == 0u) {
        control_end();
    } else if (small) {
        control_order(MODE_NONE, 0u);   // it has done all the rounds that it may
    } else {
        bool pull = mode == MODE_PULL ? entries >= graph.vertices / BETA
                                      : lanes > (more - min(seen, more)) / ALPHA;
        if (own != 0u && pull) control_order(MODE_PULL, (graph.vertices + LARGE_GROUP - 1u) / LARGE_GROUP);
        else control_expand(MODE_EXPAND, entries, lanes);
    }
}
#else
const uint ALONE = 32u;   // a lane looks at that many arcs alone; the subgroup does the rest together

bool reached(uint u) { return (plain_load(reached_word(u)) & reached_bit(u)) != 0u; }

// The first reached neighbour at the places from `place` up to `end`, or NEIGHBOR_NONE. `gaps` tells whether any of the
// places has no neighbour. Each lane has places of its own. Collective over the subgroup.
uint find_alone(uint place, uint end, out bool gaps) {
    uint found = NEIGHBOR_NONE;
    gaps = false;
    while (subgroupAny(place < end)) {
        uint u[BATCH];
        [[unroll]] for (uint k = 0u; k < BATCH; k++) {
            u[k] = place + k < end ? neighbor_at(graph, place + k) : NEIGHBOR_NONE;
            gaps = gaps || place + k < end && !neighbor_there(u[k]);
        }
        [[unroll]] for (uint k = 0u; k < BATCH; k++)
            if (u[k] != NEIGHBOR_NONE && found == NEIGHBOR_NONE && reached(u[k])) found = u[k];
        place = found != NEIGHBOR_NONE ? end : place + min(BATCH, end - min(place, end));
    }
    return found;
}

// A reached neighbour at the places from `place` up to `end` and the places after them in their lanes, or
// NEIGHBOR_NONE. All lanes pass the same places. Collective over the subgroup.
uint find_together(uint place, uint end, uint step) {
    uint left = lane_rounds(graph);   // for all lanes together, because no place comes after two others
    for (uint first = place; first < end && left != 0u; first += gl_SubgroupSize) {
        uint mine = first + gl_SubgroupInvocationID;
        if (mine >= end) mine = PLACE_NONE;
        do {
            uint u = NEIGHBOR_NONE;
            bool hit = false;
            if (mine != PLACE_NONE) {
                u = neighbor_at(graph, mine);
                hit = neighbor_there(u) && reached(u);
            }
            uvec4 hits = subgroupBallot(hit);
            if (hits != uvec4(0u)) return subgroupShuffle(u, subgroupBallotFindLSB(hits));
            if (mine != PLACE_NONE) mine = place_behind(graph, mine, step);
        } while (LANES_GO_ON && subgroupAny(mine != PLACE_NONE) && --left != 0u);
    }
    return NEIGHBOR_NONE;
}

// Looks for a reached neighbour of each lane's vertex, if `looks`, and reaches the vertex. Returns whether it found
// one. Collective over the subgroup.
bool pull(uint v, bool looks) {
    Row row = row_none();
    if (looks) row = row_of(graph, v);
    uint end = row.first + row.lanes, some = row.first + min(row.lanes, ALONE);
    bool gaps;
    uint u = find_alone(row.first, some, gaps);
    bool found = u != NEIGHBOR_NONE;
    uint rest = LANES_GO_ON ? row.first : some;
    uvec4 longer = subgroupBallot(!found && (some < end || row_goes_on(row, gaps)));
    for (uint left = subgroupBallotBitCount(longer); left != 0u; left--) {
        uint lane = subgroupBallotFindLSB(longer);
        longer[lane >> 5] &= ~(1u << (lane & 31u));
        uint one = find_together(subgroupShuffle(rest, lane), subgroupShuffle(end, lane),
                                 subgroupShuffle(row_step(row), lane));
        if (lane == gl_SubgroupInvocationID) u = one;
    }
    found = u != NEIGHBOR_NONE;
    if (found) reach(v, round_now + 1u, u);
    return found;
}

shared uint pulled_entries, pulled_lanes, pulled_at;

// Puts the vertices that were found into the next queue, with one atomic per workgroup. Collective over the workgroup.
void push_pulled(uint v, bool found) {
    if (workgroup_lane() == 0u) {
        pulled_entries = 0u;
        pulled_lanes = 0u;
    }
    barrier();
    Row row = row_none();
    if (found) row = row_of(graph, v);
    uint parts = parts_of(row), through = subgroupInclusiveAdd(parts);
    uint sum = subgroupAdd(row.lanes), at = 0u;
    if (gl_SubgroupInvocationID == gl_SubgroupSize - 1u) {
        at = atomicAdd(pulled_entries, through);
        atomicAdd(pulled_lanes, sum);
    }
    at = subgroupShuffle(at, gl_SubgroupSize - 1u) + through - parts;
    barrier();
    if (workgroup_lane() == 0u && pulled_entries != 0u) {
        uint next = (round_now + 1u) & 1u;
        pulled_at = atomic_add(address_at(control, CONTROL_ENTRIES + next, 2u), pulled_entries);
        atomic_add(address_at(control, CONTROL_LANES + next, 2u), pulled_lanes);
    }
    barrier();
    queue_store_all(pulled_at + at, v, row);
}

void main() {
    uint mode = control_load(CONTROL_MODE);
    if (workgroup_lane() == 0u) {
        round_now = control_load(CONTROL_ROUND);
        bitmap_now = control_load(CONTROL_BITMAP) & 1u;
    }
    bitmap_clear();
    barrier();
    if (mode == MODE_EXPAND) {
        expand_ordered();
        return;
    }
    uint first = workgroup_of_all(dispatch, dispatches) * WORKGROUP, v = first + workgroup_lane();
    bool was = v >= graph.vertices;
    if (!was) was = reached(v);
    bool found = pull(v, !was);
    bitmap_set_all(workgroup_lane(), was || found);
    push_pulled(v, found);   // contains barriers
    if (first >= graph.vertices) return;
    bitmap_store(bitmap_word(bitmap_now ^ 1u, first), min(WORKGROUP, graph.vertices - first));
}
#endif
