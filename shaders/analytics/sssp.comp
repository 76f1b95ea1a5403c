// Shortest paths: near vertices are expanded round by round until none is left, and then the far ones divided by the
// next bound (Davidson, Baxter, Garland and Owens, Work-Efficient Parallel GPU Methods for Single-Source Shortest
// Paths, 2014, section 4.4).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "traversal.glsl"
#include "sssp.glsl"

// values: distances, ~0 of who isn't reached; marks: a word a vertex for the last round whose frontier it was put into,
// and as many that say who is in the far queue; extra: two far queues of a word a vertex; more: how far bounds are
// apart.
const uint MODE_SPLIT = MODE_OWN;

shared uint bound_now;
shared uint far_now;   // the far queue that vertices are put into
#ifdef SMALL
shared uint far_count;
#endif

uvec2 far_at(uint queue, uint i) { return address_at(extra, queue * graph.vertices + i, 2u); }
uvec2 far_mark(uint v) { return address_at(marks, graph.vertices + v, 2u); }

// Puts a vertex into the next frontier unless it is there.
uint near(uint u) {
    return atomic_exchange(address_at(marks, u, 2u), round_now + 1u) == round_now + 1u ? TAKEN_NOT : TAKEN_NEXT;
}

uint departure_value(uint v) { return atomic_load(address_at(values, v, 2u)); }

uvec2 arrival_look(uint u, uint place) {
    return uvec2(atomic_load(address_at(values, u, 2u)), weight_at(graph, place));
}

// A sum that goes beyond words is no distance.
uint arrival_take(uint u, uvec2 looked, uint value, uint from) {
    uint distance = value + looked.y;
    if (distance < value || distance >= looked.x) return TAKEN_NOT;
    if (lower(address_at(values, u, 2u), distance) <= distance) return TAKEN_NOT;
    if (distance < bound_now) return near(u);
    if (distance < atomic_load(address_at(control, CONTROL_FAR_LEAST, 2u)))
        lower(address_at(control, CONTROL_FAR_LEAST, 2u), distance);
    return atomic_exchange(far_mark(u), 1u) == 0u ? TAKEN_ASIDE : TAKEN_NOT;
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

// Divides BATCH vertices of the far queue: who is stale, having been near meanwhile, goes; who is near now is put into
// the next frontier; the others go into the other far queue. Collective over the subgroup.
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
// The next bound, with which the far queue is divided. Collective over the workgroup.
void next_bound(uint before) {
    uint least = atomic_load(address_at(control, CONTROL_FAR_LEAST, 2u));
    barrier();
    if (workgroup_lane() == 0u) {
        uint begin = max(before, least == ~0u ? before : least);
        bound_now = begin + more < begin ? ~0u : begin + more;
        atomic_store(address_at(control, CONTROL_FAR_LEAST, 2u), ~0u);
        far_now ^= 1u;
        far_count = 0u;
        next_entries = 0u;
        next_lanes = 0u;
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
    uint aside = far_count, order = MODE_NONE, size = 0u;
    for (uint done = 0u; done < rounds;) {
        uint did = expand_rounds(entries, lanes, rounds - done);
        done += max(did, 1u);
        aside = far_count;
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
        entries = next_entries;
        lanes = next_lanes;
        aside = far_count;
        barrier();
        if (workgroup_lane() == 0u) round_now++;
        barrier();
    }
    if (workgroup_lane() != 0u) return;
    control_lengths(entries, lanes);
    plain_store_at(control, CONTROL_BOUND, bound_now);
    plain_store_at(control, CONTROL_BEFORE, before);
    plain_store_at(control, CONTROL_FAR_NOW, far_now);
    plain_store_at(control, CONTROL_FAR + far_now, far_count);
    plain_store_at(control, CONTROL_FAR + (far_now ^ 1u), aside);   // what a large split divides
    if (order == MODE_SPLIT) control_order(MODE_SPLIT, (size + BATCH * 128u - 1u) / (BATCH * 128u));
    else if (entries == 0u && aside == 0u) control_end();
    else if (entries == 0u || frontier_small(entries, lanes)) control_order(MODE_NONE, 0u);
    else control_order(MODE_EXPAND, (entries + 31u) / 32u);
}
#else
void main() {
    uint mode = control_load(CONTROL_MODE);
    if (workgroup_lane() == 0u) {
        round_now = control_load(CONTROL_ROUND);
        bound_now = control_load(CONTROL_BOUND);
        far_now = control_load(CONTROL_FAR_NOW) & 1u;
    }
    barrier();
    if (mode == MODE_EXPAND) {
        expand_large();
        return;
    }
    uint count = min(control_load(CONTROL_FAR + (far_now ^ 1u)), graph.vertices);
    split(workgroup_index() * BATCH * WORKGROUP + workgroup_lane(), WORKGROUP, count, control_load(CONTROL_BEFORE));
}
#endif
