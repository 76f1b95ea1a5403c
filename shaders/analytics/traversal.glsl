// Traversal: common code of breadth-first search, shortest paths and the peeling of cores. Each round expands a
// frontier of vertices. The vertices that it reaches for the first time are the next frontier.
//
// A kernel with this header is compiled twice. The small one is a single workgroup. It does rounds as long as frontiers
// are small, with only barriers between them. Then it writes the number of workgroups for the indirect dispatches of
// the large one, which runs after it and does one large round. So the host records pairs of them in advance, without
// reading results, and a graph with thousands of small rounds takes few dispatches.
//
// Frontiers are queues of (vertex, part): a row of more than FRONTIER_PART lanes has an entry for each part, so that no
// workgroup gets a hub alone. arrival_take puts a vertex into the next queue only once.
#ifndef VKDS_ANALYTICS_TRAVERSAL_GLSL
#define VKDS_ANALYTICS_TRAVERSAL_GLSL

#include "traversal_control.glsl"

#ifdef SMALL
#define STAGE WORKGROUP
#else
#define STAGE LARGE_STAGE
#endif
#include "stage.glsl"

// An algorithm defines these functions:
//   uint departure_value(uint v): the value that goes along the arcs of a vertex
//   uvec2 arrival_look(uint u, uint place): the words by which arrival_take decides. They are loaded for several arcs
//       at once
//   uint arrival_take(uint u, uvec2 looked, uint value, uint from): does what an arc that arrives at u does. Returns
//       TAKEN_NEXT if u belongs into the next frontier, TAKEN_ASIDE, or TAKEN_NOT
//   void keep_back(uint u[BATCH], inout uint taken[BATCH]): sets TAKEN_NOT for vertices that the algorithm keeps from
//       the next frontier. Collective over the subgroup
//   void put_aside(uint u[BATCH], uint taken[BATCH]): keeps the vertices that are TAKEN_ASIDE. Collective over the
//       subgroup
//
// BATCH is the number of arcs that an invocation has in flight. It is 1 for CPU devices, whose compiler takes half a
// minute for 4.
#ifdef VKDS_ROLLED
const uint BATCH = 1u;
#else
const uint BATCH = 4u;
#endif
const uint TAKEN_NOT = 0u;
const uint TAKEN_NEXT = 1u;
const uint TAKEN_ASIDE = 2u;
uint departure_value(uint v);
uvec2 arrival_look(uint u, uint place);
uint arrival_take(uint u, uvec2 looked, uint value, uint from);
void keep_back(uint u[BATCH], inout uint taken[BATCH]);
void put_aside(uint u[BATCH], uint taken[BATCH]);

// 1: the device's atomic minimum is atomic. 0: it may undo writes of other invocations, as SwiftShader's does.
layout(constant_id = 16) const uint EXACT_MIN = 1;

// Stores `value` if the word holds more. Returns what it held. Without EXACT_MIN it gives up after more tries than
// there are invocations, and returns `value`. A try fails only if another invocation's succeeds.
uint lower(uvec2 word, uint value) {
    if (EXACT_MIN != 0u) return atomic_min(word, value);
    uint seen = atomic_load(word);
    for (uint i = 0u; i < 1u << 20 && seen > value; i++) {
        uint was = atomic_cas(word, seen, value);
        if (was == seen) return was;
        seen = was;
    }
    return min(seen, value);
}

// The number of entries in a queue for which `counted` were counted. If rows overlap, which they don't in a valid
// graph, these may be more than the queue has room for: queue_store drops the rest.
uint queue_length(uint counted) { return min(counted, capacity); }

uvec2 queue_at(uint round, uint entry) { return address_at(queues, (round & 1u) * capacity + entry, 3u); }

// The current round.
shared uint round_now;
#ifdef SMALL
// The lengths of the queues of even and of odd rounds. While a round is done, the length of its own queue is set to 0,
// for the round after the next. So no barrier is needed between the end of a frontier and the next one.
shared uint queue_entries[2];
shared uint queue_lanes[2];
// The first entries of the next frontier. They are at hand if this workgroup does the next round, too.
shared uint hand_vertices[WORKGROUP];
shared Row hand_parts[WORKGROUP];
#endif

// Reserves entries in the next queue for a subgroup. Returns the index of the first one. All lanes pass the same
// numbers. Collective over the subgroup.
uint queue_reserve(uint entries, uint lanes) {
    uint at = 0u;
    if (gl_SubgroupInvocationID == 0u) {
        uint next = (round_now + 1u) & 1u;
#ifdef SMALL
        at = atomicAdd(queue_entries[next], entries);
        atomicAdd(queue_lanes[next], lanes);
#else
        at = atomic_add(address_at(control, CONTROL_ENTRIES + next, 2u), entries);
        atomic_add(address_at(control, CONTROL_LANES + next, 2u), lanes);
#endif
    }
    return subgroupShuffle(at, 0u);
}

// Stores an entry of the next queue. There is room for all entries, unless rows overlap.
void queue_store(uint at, uint v, uint part, Row row) {
    if (at >= capacity) return;
    coherent_store2(queue_at(round_now + 1u, at), uvec2(v, part));
#ifdef SMALL
    if (at >= WORKGROUP) return;
    hand_vertices[at] = v;
    hand_parts[at] = row_part(row, part * FRONTIER_PART, FRONTIER_PART);
#endif
}

// Stores the parts of each lane's row, at the entries from `at` on. Collective over the subgroup.
void queue_store_all(uint at, uint v, Row row) {
    uint parts = parts_of(row);
    if (parts == 1u) queue_store(at, v, 0u, row);
    uvec4 many = subgroupBallot(parts > 1u);
    for (uint left = subgroupBallotBitCount(many); left != 0u; left--) {
        uint lane = subgroupBallotFindLSB(many);
        many[lane >> 5] &= ~(1u << (lane & 31u));
        uint n = subgroupShuffle(parts, lane), first = subgroupShuffle(at, lane), whose = subgroupShuffle(v, lane);
        Row all = row_of(graph, whose);
        for (uint p = gl_SubgroupInvocationID; p < n; p += gl_SubgroupSize) queue_store(first + p, whose, p, all);
    }
}

// Puts the vertices that are TAKEN_NEXT into the next queue. Collective over the subgroup.
void queue_push(uint u[BATCH], uint taken[BATCH]) {
    Row rows[BATCH];
    uint entries = 0u, lanes = 0u;
    [[unroll]] for (uint k = 0u; k < BATCH; k++) {
        rows[k] = row_none();
        if (taken[k] == TAKEN_NEXT) rows[k] = row_of(graph, u[k]);
    }
    [[unroll]] for (uint k = 0u; k < BATCH; k++) {
        entries += parts_of(rows[k]);
        lanes += rows[k].lanes;
    }
    uint through = subgroupInclusiveAdd(entries);
    uint total = subgroupShuffle(through, gl_SubgroupSize - 1u);
    if (total == 0u) return;
    uint at = queue_reserve(total, subgroupAdd(lanes)) + through - entries;
    [[unroll]] for (uint k = 0u; k < BATCH; k++) {
        queue_store_all(at, u[k], rows[k]);
        at += parts_of(rows[k]);
    }
}

// Expands up to BATCH arcs of each lane. Places may be PLACE_NONE. Collective over the subgroup.
void expand(uint place[BATCH], uint from[BATCH], uint value[BATCH]) {
    uint u[BATCH], taken[BATCH];
    uvec2 looked[BATCH];
    bool valid[BATCH];
    [[unroll]] for (uint k = 0u; k < BATCH; k++) {
        valid[k] = place[k] != PLACE_NONE;
        u[k] = valid[k] ? neighbor_at(graph, place[k]) : 0u;
    }
    [[unroll]] for (uint k = 0u; k < BATCH; k++) {
        valid[k] = valid[k] && neighbor_there(u[k]);
        looked[k] = valid[k] ? arrival_look(u[k], place[k]) : uvec2(0u);
    }
    [[unroll]] for (uint k = 0u; k < BATCH; k++) {
        taken[k] = TAKEN_NOT;
        if (valid[k]) taken[k] = arrival_take(u[k], looked[k], value[k], from[k]);
    }
    keep_back(u, taken);
    queue_push(u, taken);
    put_aside(u, taken);
}

// Expands these arcs and all later ones of the same lanes of rows. Collective over the subgroup.
void expand_lanes(uint place[BATCH], uint step[BATCH], uint from[BATCH], uint value[BATCH]) {
    if (!LANES_GO_ON) {
        expand(place, from, value);
        return;
    }
    bool more = true;
    for (uint left = lane_rounds(graph); more && left != 0u; left--) {
        uint behind[BATCH];
        bool any_behind = false;
        [[unroll]] for (uint k = 0u; k < BATCH; k++) {
            behind[k] = place[k] != PLACE_NONE ? place_behind(graph, place[k], step[k]) : PLACE_NONE;
            any_behind = any_behind || behind[k] != PLACE_NONE;
        }
        expand(place, from, value);
        place = behind;
        more = subgroupAny(any_behind);
    }
}

// Expands all lanes of the stage. Collective over the workgroup.
void expand_stage(uint total) {
    for (uint base = 0u; base < total; base += BATCH * WORKGROUP) {
        uint place[BATCH], step[BATCH], from[BATCH], value[BATCH];
        [[unroll]] for (uint k = 0u; k < BATCH; k++) {
            uint lane = base + k * WORKGROUP + workgroup_lane();
            bool valid = lane < total;
            uint i = stage_find(valid ? lane : 0u) & (STAGE - 1u);
            place[k] = valid ? stage_firsts[i] + lane : PLACE_NONE;
            step[k] = stage_step(i);
            from[k] = stage_vertices[i];
            value[k] = stage_values[i];
        }
        expand_lanes(place, step, from, value);
    }
}

// The part of a row that an entry of the frontier stands for. If not `there`, it has no lanes.
Row entry_part(bool there, uint entry, out uint v) {
    v = 0u;
    if (!there) return row_none();
    uvec2 what = coherent_load2(queue_at(round_now, entry));
    v = min(what.x, graph.vertices - 1u);
    return row_part(row_of(graph, v), what.y * FRONTIER_PART, FRONTIER_PART);
}

// A barrier after which the workgroup sees its own writes to memory.
void round_barrier() {
    memoryBarrier(gl_ScopeWorkgroup, gl_StorageSemanticsBuffer,
                  gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
    barrier();
}

#ifdef SMALL
const uint SHORT = BATCH;   // lanes per row at hand, so that BATCH rounds do all rows; other arcs are staged

bool at_hand = false;   // hand_… has the frontier's first entries: this workgroup has found them, and no later ones
shared uint hand_longer;

// Expands the first SHORT arcs of the rows at hand. Collective over the workgroup. After its barrier, what is at hand
// may change.
void expand_hand(uint count) {
    uint place[BATCH], step[BATCH], from[BATCH], value[BATCH];
    [[unroll]] for (uint k = 0u; k < BATCH; k++) {
        uint i = (k * WORKGROUP + workgroup_lane()) / SHORT, arc = workgroup_lane() % SHORT;
        Row part = hand_parts[i];
        from[k] = hand_vertices[i];
        place[k] = i < count && arc < part.lanes ? part.first + arc : PLACE_NONE;
        step[k] = row_step(part);
        value[k] = 0u;
    }
    barrier();
    if (workgroup_lane() == 0u) {
        queue_entries[round_now & 1u] = 0u;
        queue_lanes[round_now & 1u] = 0u;
    }
    if (subgroupAll(place[0] == PLACE_NONE)) return;   // entries are in order, so the other places are PLACE_NONE, too
    [[unroll]] for (uint k = 0u; k < BATCH; k++)
        if (place[k] != PLACE_NONE) value[k] = departure_value(from[k]);
    expand_lanes(place, step, from, value);
}

// Expands a frontier with the given number of entries. Collective over the workgroup.
void expand_small(uint entries) {
    for (uint base = 0u; base < entries; base += WORKGROUP) {
        uint lane = workgroup_lane(), v;
        bool there = base + lane < entries;
        Row part;
        if (at_hand && base == 0u) {
            v = there ? hand_vertices[lane] : 0u;
            part = row_none();
            if (there) part = hand_parts[lane];
        } else {
            part = entry_part(there, base + lane, v);
            hand_vertices[lane] = v;
            hand_parts[lane] = part;
        }
        if (part.lanes > SHORT) hand_longer = 1u;
        barrier();
        bool longer = hand_longer != 0u;
        expand_hand(min(entries - base, WORKGROUP));
        round_barrier();
        if (longer) {
            Row rest = row_part(part, SHORT, ~0u);
            uint value = rest.lanes != 0u ? departure_value(v) : 0u;
            expand_stage(stage_put(v, rest, value));
            if (lane == 0u) hand_longer = 0u;
            round_barrier();
        }
    }
    at_hand = entries <= WORKGROUP;
}

bool frontier_small(uint entries, uint lanes) { return entries <= small_entries && lanes <= small_lanes; }

// Moves to the next round, and returns the length of its frontier. Collective over the workgroup. A barrier must come
// before it, and another one before anything is put into a queue.
void round_next(out uint entries, out uint lanes) {
    uint next = (round_now + 1u) & 1u;
    entries = queue_length(queue_entries[next]);
    lanes = queue_lanes[next];
    barrier();
    if (workgroup_lane() == 0u) round_now++;
}

// Does at most `most` rounds, while frontiers are neither empty nor large. `entries` and `lanes` are those of the first
// frontier, and afterwards of the one that is left. Returns the number of rounds. Collective over the workgroup.
uint expand_rounds(inout uint entries, inout uint lanes, uint most) {
    uint done = 0u;
    for (; done < most && entries != 0u && frontier_small(entries, lanes); done++) {
        expand_small(entries);
        round_next(entries, lanes);
    }
    return done;
}

// Begins after a dispatch of the large kernel, and returns its mode. Sets the current round, and the entries and lanes
// of its frontier. Collective over the workgroup. The caller executes a barrier after its own preparations.
uint rounds_begin(out uint entries, out uint lanes) {
    uint mode = control_load(CONTROL_MODE);
    uint round = control_load(CONTROL_ROUND) + (mode == MODE_NONE ? 0u : 1u);
    entries = queue_length(control_load(CONTROL_ENTRIES + (round & 1u)));
    lanes = control_load(CONTROL_LANES + (round & 1u));
    if (workgroup_lane() == 0u) {
        round_now = round;
        queue_entries[0] = 0u;
        queue_entries[1] = 0u;
        queue_lanes[0] = 0u;
        queue_lanes[1] = 0u;
        hand_longer = 0u;
    }
    return mode;
}

// Orders a mode and at least `groups` workgroups from the large kernel. One lane.
void control_order(uint mode, uint groups) {
    groups = (groups + dispatches - 1u) / dispatches;
    uint rows = (groups + 65534u) / 65535u;
    plain_store_at(control, CONTROL_MODE, mode);
    plain_store_at(control, CONTROL_GROUPS, rows == 0u ? 0u : (groups + rows - 1u) / rows);
    plain_store_at(control, CONTROL_GROUPS + 1u, rows);
    plain_store_at(control, CONTROL_GROUPS + 2u, 1u);
}

// Orders the large kernel to expand the frontier. The number of workgroups should keep a device busy, but each
// workgroup should have little more than the arcs that it has in flight at a time. If entries are parts of hubs, each
// gets a workgroup. One lane.
void control_expand(uint mode, uint entries, uint lanes) {
    uint share = clamp(entries / max(lanes / (BATCH * LARGE_GROUP), 256u), 1u, LARGE_STAGE);
    plain_store_at(control, CONTROL_SHARE, share);
    control_order(mode, (entries + share - 1u) / share);
}

// Ends the traversal. One lane.
void control_end() {
    plain_store_at(control, CONTROL_DONE, 1u);
    control_order(MODE_NONE, 0u);
}

// Stores the length of the current frontier; that of the next one is 0. One lane.
void control_lengths(uint entries, uint lanes) {
    uint now = round_now & 1u, next = now ^ 1u;
    plain_store_at(control, CONTROL_ROUND, round_now);
    plain_store_at(control, CONTROL_ENTRIES + now, entries);
    plain_store_at(control, CONTROL_ENTRIES + next, 0u);
    plain_store_at(control, CONTROL_LANES + now, lanes);
    plain_store_at(control, CONTROL_LANES + next, 0u);
}
#else
// Expands this workgroup's entries of a large frontier, at most `share`. Collective over the workgroup.
void expand_large(uint share) {
    uint entries = queue_length(control_load(CONTROL_ENTRIES + (round_now & 1u)));
    uint base = workgroup_of_all(dispatch, dispatches) * share, v;
    bool there = workgroup_lane() < share && base + workgroup_lane() < entries;
    Row part = entry_part(there, base + workgroup_lane(), v);
    expand_stage(stage_put(v, part, there ? departure_value(v) : 0u));
}

// Expands as many entries as the small kernel has ordered.
void expand_ordered() { expand_large(min(control_load(CONTROL_SHARE), STAGE)); }
#endif

#endif
