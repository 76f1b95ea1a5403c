// Shortest paths: near vertices, at distances below a bound, are expanded round by round until none is left. Then the
// bound rises and divides the far vertices (Davidson, Baxter, Garland and Owens, Work-Efficient Parallel GPU Methods
// for Single-Source Shortest Paths, 2014, section 4.4).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "traversal.glsl"
#include "sssp.glsl"
#include "weights.glsl"

// Push constants. values: distances, ~0 if not reached; marks: one word per vertex, the last round whose frontier it
// was put into, and then one word per vertex, 1 if it is in the far queue; extra: two far queues of one word per
// vertex; more: the difference between bounds; own: the number of rounds that a workgroup of the large kernel does with
// the near vertices that it finds, if rows are short.
const uint MODE_SPLIT = MODE_OWN;
const uint MODE_LOCAL = MODE_OWN + 1u;

// Distances may be found in any order, because the invocation that lowers a distance sees to it that the vertex's arcs
// are looked at afterwards. If a frontier has too few arcs for a device, a workgroup goes on with the vertices whose
// distances it has lowered. Only those that are left after some rounds come into the next frontier, because a round of
// all workgroups takes as long as several rounds of one.
const uint LOCAL_ARCS = 8u;           // the greatest length of rows for this; that many lanes read a row
const uint LOCAL_FRONTIER = 1u << 14; // the greatest number of entries of frontiers for this
#ifndef SMALL
const uint LOCAL = 128u;              // the number of vertices that a workgroup can go on with
shared uint local_vertices[2 * LOCAL];
shared uint local_count[2];
shared uint local_next;               // the half into which vertices are put; 2: none
#endif

shared uint bound_now;
shared uint far_now;   // the far queue into which vertices are put
#ifdef SMALL
shared uint far_count;
#endif

uvec2 far_at(uint queue, uint i) { return address_at(extra, queue * graph.vertices + i, 2u); }
// The number of vertices in a far queue for which `counted` were counted.
uint far_length(uint counted) { return min(counted, graph.vertices); }
uvec2 far_mark(uint v) { return address_at(marks, graph.vertices + v, 2u); }

// Puts a vertex into the next frontier, unless it is there already.
uint near(uint u) {
    return atomic_exchange(address_at(marks, u, 2u), round_now + 1u) == round_now + 1u ? TAKEN_NOT : TAKEN_NEXT;
}

uint departure_value(uint v) { return atomic_load(address_at(values, v, 2u)); }

uvec2 arrival_look(uint u, uint place) {
    return uvec2(atomic_load(address_at(values, u, 2u)), weight_at(graph, place));
}

// Keeps the first arc of an invalid weight, for the host's error.
void report(uint from, uint u, uint weight) {
    if (atomic_exchange(address_at(control, CONTROL_INVALID, 2u), 1u) != 0u) return;
    plain_store_at(control, CONTROL_INVALID + 1u, from);
    plain_store_at(control, CONTROL_INVALID + 2u, u);
    plain_store_at(control, CONTROL_INVALID + 3u, weight);
}

// A sum that is too great is no distance.
uint arrival_take(uint u, uvec2 looked, uint value, uint from) {
    if (FLOATS != 0u && weight_invalid(looked.y)) {
        report(from, u, looked.y);
        return TAKEN_NOT;
    }
    uint distance = path_sum(value, looked.y);
    if (distance < value || distance >= looked.x) return TAKEN_NOT;
    if (lower(address_at(values, u, 2u), distance) <= distance) return TAKEN_NOT;
    if (distance < bound_now) return TAKEN_NEXT;
    if (distance < atomic_load(address_at(control, CONTROL_FAR_LEAST, 2u)))
        lower(address_at(control, CONTROL_FAR_LEAST, 2u), distance);
    return atomic_exchange(far_mark(u), 1u) == 0u ? TAKEN_ASIDE : TAKEN_NOT;
}

// Keeps the vertices that the workgroup goes on with itself. The others are put into the next frontier, once each.
void keep_back(uint u[BATCH], inout uint taken[BATCH]) {
    [[unroll]] for (uint k = 0u; k < BATCH; k++) {
        if (taken[k] != TAKEN_NEXT) continue;
#ifndef SMALL
        if (local_next < 2u && row_of(graph, u[k]).lanes <= LOCAL_ARCS) {
            uint at = atomicAdd(local_count[local_next], 1u);
            if (at < LOCAL) {
                local_vertices[local_next * LOCAL + at] = u[k];
                taken[k] = TAKEN_NOT;
                continue;
            }
        }
#endif
        taken[k] = near(u[k]);
    }
}

void put_aside(uint u[BATCH], uint taken[BATCH]) {
    uint count = 0u;
    [[unroll]] for (uint k = 0u; k < BATCH; k++) count += taken[k] == TAKEN_ASIDE ? 1u : 0u;
    uint through = subgroupInclusiveAdd(count);
    uint total = subgroupShuffle(through, gl_SubgroupSize - 1u);
    if (total == 0u) return;
    uint at = 0u;
    if (gl_SubgroupInvocationID == 0u) {
#ifdef SMALL
        at = atomicAdd(far_count, total);
#else
        at = atomic_add(address_at(control, CONTROL_FAR + far_now, 2u), total);
#endif
    }
    at = subgroupShuffle(at, 0u) + through - count;
    [[unroll]] for (uint k = 0u; k < BATCH; k++)
        if (taken[k] == TAKEN_ASIDE && at < graph.vertices) atomic_store(far_at(far_now, at++), u[k]);
}

// Divides BATCH vertices of the far queue. Vertices that are near now are put into the next frontier, and those that
// are still far into the other far queue. Stale ones, which have been near before, are dropped. Collective over the
// subgroup.
void split(uint first, uint step, uint count, uint before) {
    uint u[BATCH], taken[BATCH];
    [[unroll]] for (uint k = 0u; k < BATCH; k++) {
        bool there = first + k * step < count;
        u[k] = there ? min(atomic_load(far_at(far_now ^ 1u, first + k * step)), graph.vertices - 1u) : 0u;
        taken[k] = TAKEN_NOT;
        if (there) {
            uint distance = atomic_load(address_at(values, u[k], 2u));
            if (distance >= bound_now) {
                taken[k] = TAKEN_ASIDE;
                if (distance < atomic_load(address_at(control, CONTROL_FAR_LEAST, 2u)))
                    lower(address_at(control, CONTROL_FAR_LEAST, 2u), distance);
            } else {
                atomic_store(far_mark(u[k]), 0u);
                if (distance >= before) taken[k] = near(u[k]);
            }
        }
    }
    queue_push(u, taken);
    put_aside(u, taken);
}

#ifdef SMALL
// Computes the next bound, and exchanges the far queues. Collective over the workgroup.
void next_bound(uint before) {
    uint least = atomic_load(address_at(control, CONTROL_FAR_LEAST, 2u));
    barrier();
    if (workgroup_lane() == 0u) {
        uint begin = max(before, least == ~0u ? before : least);
        uint bound = path_sum(begin, more);
        bound_now = bound < begin ? ~0u : max(bound, begin + FLOATS);   // a float may be too great to grow by `more`
        atomic_store(address_at(control, CONTROL_FAR_LEAST, 2u), ~0u);
        far_now ^= 1u;
        far_count = 0u;
    }
    round_barrier();
}

void main() {
    if (control_load(CONTROL_DONE) != 0u) return;
    uint entries, lanes;
    uint mode = rounds_begin(entries, lanes);
    uint before = control_load(CONTROL_BEFORE);
    uint far = control_load(CONTROL_FAR_NOW) & 1u;
    if (workgroup_lane() == 0u) {
        bound_now = control_load(CONTROL_BOUND);
        far_now = far;
        far_count = control_load(CONTROL_FAR + far);
    }
    barrier();
    uint aside = far_length(far_count), order = MODE_NONE, size = 0u;
    for (uint done = 0u; done < rounds;) {
        uint did = expand_rounds(entries, lanes, rounds - done);
        done += max(did, 1u);
        aside = far_length(far_count);
        if (entries != 0u || aside == 0u) break;
        before = bound_now;
        next_bound(before);
        if (aside > small_entries) {
            order = MODE_SPLIT;
            size = aside;
            break;
        }
        for (uint base = 0u; base < aside; base += BATCH * WORKGROUP)
            split(base + workgroup_lane(), WORKGROUP, aside, before);
        round_barrier();
        aside = far_length(far_count);
        at_hand = true;
        round_next(entries, lanes);
    }
    if (workgroup_lane() != 0u) return;
    control_lengths(entries, lanes);
    plain_store_at(control, CONTROL_BOUND, bound_now);
    plain_store_at(control, CONTROL_BEFORE, before);
    plain_store_at(control, CONTROL_FAR_NOW, far_now);
    plain_store_at(control, CONTROL_FAR + far_now, far_count);
    plain_store_at(control, CONTROL_FAR + (far_now ^ 1u), aside);   // the queue that a large split divides
    if (order == MODE_SPLIT) control_order(MODE_SPLIT, (size + BATCH * LARGE_GROUP - 1u) / (BATCH * LARGE_GROUP));
    else if (entries == 0u && aside == 0u) control_end();
    else if (entries == 0u || frontier_small(entries, lanes)) control_order(MODE_NONE, 0u);
    else control_expand(entries <= LOCAL_FRONTIER && lanes <= LOCAL_ARCS * entries ? MODE_LOCAL : MODE_EXPAND,
                        entries, lanes);
}
#else
// Expands vertices that the workgroup goes on with. Collective over the workgroup.
void expand_own(uint which, uint count) {
    for (uint base = 0u; base < count; base += BATCH * WORKGROUP / LOCAL_ARCS) {
        uint place[BATCH], step[BATCH], from[BATCH], value[BATCH];
        [[unroll]] for (uint k = 0u; k < BATCH; k++) {
            uint i = base + (k * WORKGROUP + workgroup_lane()) / LOCAL_ARCS, arc = workgroup_lane() % LOCAL_ARCS;
            from[k] = i < count ? local_vertices[which * LOCAL + i] : 0u;
            Row row = row_none();
            value[k] = 0u;
            if (i < count) {
                row = row_of(graph, from[k]);
                value[k] = departure_value(from[k]);
            }
            place[k] = arc < row.lanes ? row.first + arc : PLACE_NONE;
            step[k] = row_step(row);
        }
        expand_lanes(place, step, from, value);
    }
}

// Expands the workgroup's entries of the frontier, and then does up to `most` rounds with the near vertices that it
// finds. Collective over the workgroup.
void expand_local(uint most) {
    expand_ordered();
    uint now = 0u;
    for (uint done = 0u; done < most; done++, now ^= 1u) {
        round_barrier();
        uint count = min(local_count[now], LOCAL);
        if (count == 0u) return;
        if (workgroup_lane() == 0u) {
            local_count[now ^ 1u] = 0u;
            local_next = done + 1u < most ? now ^ 1u : 2u;
        }
        barrier();
        expand_own(now, count);
    }
}

void main() {
    uint mode = control_load(CONTROL_MODE);
    if (workgroup_lane() == 0u) {
        round_now = control_load(CONTROL_ROUND);
        bound_now = control_load(CONTROL_BOUND);
        far_now = control_load(CONTROL_FAR_NOW) & 1u;
        local_next = mode == MODE_LOCAL && own != 0u ? 0u : 2u;
        local_count[0] = 0u;
    }
    barrier();
    if (mode != MODE_SPLIT) {
        expand_local(own);
        return;
    }
    uint count = far_length(control_load(CONTROL_FAR + (far_now ^ 1u)));
    uint first = workgroup_of_all(dispatch, dispatches) * BATCH * WORKGROUP + workgroup_lane();
    split(first, WORKGROUP, count, control_load(CONTROL_BEFORE));
}
#endif
