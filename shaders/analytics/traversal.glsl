// Traversal: what breadth-first search, shortest paths and the peeling of cores have in common. A frontier of vertices
// is expanded round by round; whom a round reaches anew is the next frontier.
//
// A kernel over this header is compiled twice. The small one is a single workgroup, which does rounds by itself while
// frontiers are small, with nothing but barriers between them, and then says what the other one is to do: that runs
// once behind it, in as many workgroups as the small one wrote for the indirect dispatch, and does one large round. So
// the host records pairs of them ahead, without asking what there is to be done, and a graph of thousands of small
// rounds takes few dispatches.
//
// Frontiers are queues of (vertex, part): a row of more than FRONTIER_PART lanes is in it part by part, so that no
// workgroup has a hub for itself. A vertex is in the next queue once, as arrival_take has it.
#ifndef VKDS_ANALYTICS_TRAVERSAL_GLSL
#define VKDS_ANALYTICS_TRAVERSAL_GLSL

#include "traversal_control.glsl"

#ifdef SMALL
#define STAGE WORKGROUP
#else
#define STAGE 32u
#endif
#include "stage.glsl"

// An algorithm has these.
//   uint departure_value(uint v): what goes along a vertex's arcs
//   uvec2 arrival_look(uint u, uint place): what arrival_take decides by, loaded for several arcs at once
//   uint arrival_take(uint u, uvec2 looked, uint value, uint from): an arc arrives at u; says where u belongs now:
//       TAKEN_NOT, TAKEN_NEXT, in the next frontier, or TAKEN_ASIDE
//   void put_aside(uint u[BATCH], uint taken[BATCH]): keeps those that are TAKEN_ASIDE. Collective over the subgroup
const uint BATCH = 4u;   // arcs that an invocation has under way
const uint TAKEN_NOT = 0u;
const uint TAKEN_NEXT = 1u;
const uint TAKEN_ASIDE = 2u;
uint departure_value(uint v);
uvec2 arrival_look(uint u, uint place);
uint arrival_take(uint u, uvec2 looked, uint value, uint from);
void put_aside(uint u[BATCH], uint taken[BATCH]);

// Whether a device's atomic minimum does without undoing what others do: SwiftShader's doesn't.
layout(constant_id = 16) const uint EXACT_MIN = 1;

// Stores value if the word holds more; returns what it held. Without EXACT_MIN it gives up, and says that the word held
// as much, after more tries than there are invocations: each that fails is one that another one succeeded in.
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

uvec2 queue_at(uint round, uint entry) { return address_at(queues, (round & 1u) * capacity + entry, 3u); }

// What round is being done, and the next queue's lengths, in the small kernel.
shared uint round_now;
#ifdef SMALL
shared uint next_entries;
shared uint next_lanes;
#endif

// Room for so many entries of a subgroup in the next queue. Collective over the subgroup, all of whose lanes say the
// same.
uint queue_reserve(uint entries, uint lanes) {
    uint at = 0u;
    if (gl_SubgroupInvocationID == 0u) {
#ifdef SMALL
        at = atomicAdd(next_entries, entries);
        atomicAdd(next_lanes, lanes);
#else
        uint next = (round_now + 1u) & 1u;
        at = atomic_add(address_at(control, CONTROL_ENTRIES + next, 2u), entries);
        atomic_add(address_at(control, CONTROL_LANES + next, 2u), lanes);
#endif
    }
    return subgroupShuffle(at, 0u);
}

// Writes each lane's parts of a vertex's row from an entry on; a queue has room for all that there can be. Collective
// over the subgroup.
void queue_store(uint at, uint v, uint parts) {
    if (parts == 1u && at < capacity) coherent_store2(queue_at(round_now + 1u, at), uvec2(v, 0u));
    uvec4 many = subgroupBallot(parts > 1u);
    for (uint left = subgroupBallotBitCount(many); left != 0u; left--) {
        uint lane = subgroupBallotFindLSB(many);
        many[lane >> 5] &= ~(1u << (lane & 31u));
        uint n = subgroupShuffle(parts, lane), first = subgroupShuffle(at, lane), whose = subgroupShuffle(v, lane);
        for (uint p = gl_SubgroupInvocationID; p < n && p < capacity - min(first, capacity); p += gl_SubgroupSize)
            coherent_store2(queue_at(round_now + 1u, first + p), uvec2(whose, p));
    }
}

// Puts those of the vertices that are taken into the next queue. Collective over the subgroup.
void queue_push(uint u[BATCH], uint taken[BATCH]) {
    uint parts[BATCH], entries = 0u, lanes = 0u;
    [[unroll]] for (uint k = 0u; k < BATCH; k++) {
        parts[k] = 0u;
        if (taken[k] == TAKEN_NEXT) {
            uint n = row_of(graph, u[k]).lanes;
            parts[k] = (n + FRONTIER_PART - 1u) / FRONTIER_PART;
            entries += parts[k];
            lanes += n;
        }
    }
    uint through = subgroupInclusiveAdd(entries);
    uint total = subgroupShuffle(through, gl_SubgroupSize - 1u);
    if (total == 0u) return;
    uint at = queue_reserve(total, subgroupAdd(lanes)) + through - entries;
    [[unroll]] for (uint k = 0u; k < BATCH; k++) {
        queue_store(at, u[k], parts[k]);
        at += parts[k];
    }
}

// Expands up to BATCH arcs of each lane, at places that are not PLACE_NONE. Collective over the subgroup.
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
    queue_push(u, taken);
    put_aside(u, taken);
}

// The same of all arcs that the lanes have from these places on. Collective over the subgroup.
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

// Expands what is staged, all its lanes. Collective over the workgroup.
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

// The part of a row that an entry of the frontier is; none has no lanes.
Row entry_part(bool there, uint entry, out uint v) {
    v = 0u;
    if (!there) return row_none();
    uvec2 what = coherent_load2(queue_at(round_now, entry));
    v = min(what.x, graph.vertices - 1u);
    return row_part(row_of(graph, v), what.y * FRONTIER_PART, FRONTIER_PART);
}

#ifdef SMALL
// What the workgroup wrote for itself is there behind this.
void round_barrier() {
    memoryBarrier(gl_ScopeWorkgroup, gl_StorageSemanticsBuffer,
                  gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
    barrier();
}

// Expands a frontier of so many entries. Short rows are the business of one invocation, which has their arcs under way
// at one time; what is behind these is staged. Collective over the workgroup.
void expand_small(uint entries) {
    for (uint base = 0u; base < entries; base += WORKGROUP) {
        uint v;
        bool there = base + workgroup_lane() < entries;
        Row part = entry_part(there, base + workgroup_lane(), v);
        uint carried = there ? departure_value(v) : 0u;
        uint place[BATCH], step[BATCH], from[BATCH], value[BATCH];
        [[unroll]] for (uint k = 0u; k < BATCH; k++) {
            place[k] = k < part.lanes ? part.first + k : PLACE_NONE;
            step[k] = row_step(part);
            from[k] = v;
            value[k] = carried;
        }
        expand_lanes(place, step, from, value);
        expand_stage(stage_put(v, row_part(part, BATCH, ~0u), carried));
        barrier();
    }
}

bool frontier_small(uint entries, uint lanes) { return entries <= small_entries && lanes <= small_lanes; }

// Does rounds while frontiers are neither empty nor large; entries and lanes are those of the first, and of the one
// that is left. Returns how many it did. Collective over the workgroup.
uint expand_rounds(inout uint entries, inout uint lanes, uint most) {
    uint done = 0u;
    while (done < most && entries != 0u && frontier_small(entries, lanes)) {
        if (workgroup_lane() == 0u) {
            next_entries = 0u;
            next_lanes = 0u;
        }
        barrier();
        expand_small(entries);
        round_barrier();
        entries = next_entries;
        lanes = next_lanes;
        if (workgroup_lane() == 0u) round_now++;
        done++;
        barrier();
    }
    return done;
}

// Begins: the frontier's round, and how many entries and lanes it has, behind what the large kernel has done. Returns
// what that was. Collective over the workgroup; barriers come behind what the algorithm does besides.
uint rounds_begin(out uint entries, out uint lanes) {
    uint mode = control_load(CONTROL_MODE);
    uint round = control_load(CONTROL_ROUND) + (mode == MODE_NONE ? 0u : 1u);
    entries = control_load(CONTROL_ENTRIES + (round & 1u));
    lanes = control_load(CONTROL_LANES + (round & 1u));
    if (workgroup_lane() == 0u) round_now = round;
    return mode;
}

// Tells the large kernel what to do in so many workgroups, and the host whether anything is left. One lane.
void control_order(uint mode, uint groups) {
    uint rows = (groups + 65534u) / 65535u;
    plain_store_at(control, CONTROL_MODE, mode);
    plain_store_at(control, CONTROL_GROUPS, rows == 0u ? 0u : (groups + rows - 1u) / rows);
    plain_store_at(control, CONTROL_GROUPS + 1u, rows);
    plain_store_at(control, CONTROL_GROUPS + 2u, 1u);
}

// That there is nothing left. One lane.
void control_end() {
    plain_store_at(control, CONTROL_DONE, 1u);
    control_order(MODE_NONE, 0u);
}

// The lengths of the frontier at hand, and of the next one: nothing yet. One lane.
void control_lengths(uint entries, uint lanes) {
    uint now = round_now & 1u, next = now ^ 1u;
    plain_store_at(control, CONTROL_ROUND, round_now);
    plain_store_at(control, CONTROL_ENTRIES + now, entries);
    plain_store_at(control, CONTROL_ENTRIES + next, 0u);
    plain_store_at(control, CONTROL_LANES + now, lanes);
    plain_store_at(control, CONTROL_LANES + next, 0u);
}
#else
// Expands this workgroup's entries of a large frontier. Collective over the workgroup.
void expand_large() {
    uint entries = control_load(CONTROL_ENTRIES + (round_now & 1u));
    uint base = workgroup_index() * STAGE, v;
    bool there = workgroup_lane() < STAGE && base + workgroup_lane() < entries;
    Row part = entry_part(there, base + workgroup_lane(), v);
    expand_stage(stage_put(v, part, there ? departure_value(v) : 0u));
}
#endif

#endif
