// Reduces the values of each run of equal keys: to their sum, their minimum and their maximum.
//
// `counts` has the number of runs that begin in each chunk. The values of a chunk before its first run belong to a run
// that began in an earlier chunk. Their aggregate goes to `firsts`, from where reduce_by_key_join takes it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "chunk.glsl"
#include "run_head.glsl"
#include "aggregate.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 values;
    AggregateArrays results;   // outputs: one number per run
    AggregateArrays firsts;    // outputs: one number per chunk
    uvec2 counts;              // one word per chunk
    Length length;
};

shared Aggregate of_subgroup[WORKGROUP / 4u];   // of the values since the last head
shared bool headed[WORKGROUP / 4u];

// The lane's values of the quad at key `at`.
V[QUAD_KEYS] quad_values(uint at, uint n) {
    V v[QUAD_KEYS];
    [[unroll]] for (uint c = 0u; c < QUAD_KEYS; c++)
        v[c] = at + c < n ? value_load_at(values, at + c) : V(0u);
    return v;
}

// The values of a segment after its last head, or all of them if it has none.
struct Tail { Aggregate values; bool headed; };

// before[q] becomes the aggregate of the values before the lane's quad q since the last head of the segment. Bit q of
// `open` says that the segment has no head before that quad. Collective over the subgroup.
Tail segment_aggregates(uint first, uint n, uint heads[QUADS], V v[QUADS][QUAD_KEYS], out Aggregate before[QUADS],
                        out uint open) {
    uint lane = gl_SubgroupInvocationID;
    Tail tail = Tail(aggregate_none(), false);
    open = 0u;
    [[unroll]] for (uint q = 0u; q < QUADS; q++) {
        Aggregate own = aggregate_none();   // of the quad's values since its last head
        uint at = first + segment_key(q);
        [[unroll]] for (uint c = 0u; c < QUAD_KEYS; c++) {
            if ((heads[q] & 1u << c) != 0u) own = aggregate_none();
            if (at + c < n) own = aggregate_add(own, v[q][c]);
        }
        uvec4 marked = subgroupBallot(heads[q] != 0u);
        uvec4 through = marked & gl_SubgroupLeMask;
        own = aggregate_through(own, through == uvec4(0u) ? 0u : subgroupBallotFindMSB(through));
        before[q] = aggregate_shuffle(own, lane - min(1u, lane));
        if (lane == 0u) before[q] = aggregate_none();
        if ((marked & gl_SubgroupLtMask) == uvec4(0u)) {
            before[q] = aggregate_both(tail.values, before[q]);
            if (!tail.headed) open |= 1u << q;
        }
        Aggregate row = aggregate_shuffle(own, gl_SubgroupSize - 1u);
        bool any = marked != uvec4(0u);
        if (any) tail.values = row;
        else tail.values = aggregate_both(tail.values, row);
        tail.headed = tail.headed || any;
    }
    return tail;
}

void main() {
    uint n = length_of(length);
    uint group = gl_WorkGroupID.x;
    Chunk chunk = chunk_of(n, group, gl_NumWorkGroups.x);
    // The number of runs before the part. It can't be more than the elements before it, whatever counts say.
    uint begin = min(chunk_sum(counts, group), chunk.part * PART);
    uint runs = begin;
    Aggregate open = aggregate_none();   // of the values before the part since the last head of the chunk
    for (uint part = chunk.part; part < chunk.end; part++) {
        uint first = segment_of(part);
        uvec4 key[QUADS];
        V v[QUADS][QUAD_KEYS];
        uint heads[QUADS], rank[QUADS];
        segment_load(keys, first, n, KEY_LEAST, key);
        [[unroll]] for (uint q = 0u; q < QUADS; q++) v[q] = quad_values(first + segment_key(q), n);
        run_heads(keys, first, n, key, heads);
        Aggregate since[QUADS];
        uint opens;
        Tail tail = segment_aggregates(first, n, heads, v, since, opens);
        barrier();   // the previous round may still be reading shared memory
        if (gl_SubgroupInvocationID == 0u) {
            of_subgroup[gl_SubgroupID] = tail.values;
            headed[gl_SubgroupID] = tail.headed;
        }
        uint count = pack_ranks(heads, rank);   // has a barrier
        Aggregate before = open;   // of the values before the segment
        for (uint i = 0u; i < gl_NumSubgroups; i++) {
            if (i == gl_SubgroupID) before = open;
            if (headed[i]) open = of_subgroup[i];
            else open = aggregate_both(open, of_subgroup[i]);
        }
        // A head ends the run before it.
        [[unroll]] for (uint q = 0u; q < QUADS; q++) {
            uint at = first + segment_key(q);
            uint run = runs + rank[q];
            Aggregate a = since[q];
            if ((opens & 1u << q) != 0u) a = aggregate_both(before, a);
            [[unroll]] for (uint c = 0u; c < QUAD_KEYS; c++) {
                if ((heads[q] & 1u << c) != 0u) {
                    if (run == begin) aggregate_store(firsts, group, a);
                    else aggregate_store(results, run - 1u, a);
                    run++;
                    a = aggregate_none();
                }
                if (at + c < n) a = aggregate_add(a, v[q][c]);
            }
        }
        runs += count;
    }
    if (gl_SubgroupID == 0u && subgroupElect()) {
        if (runs == begin) aggregate_store(firsts, group, open);
        else aggregate_store(results, runs - 1u, open);
    }
}
