// Run-length encoding: the key and the length of each run of equal keys.
//
// In a single pass each workgroup has a part, and looks back for how many runs begin in the parts before it and where
// the last of them does. Otherwise it has a chunk, and counts and lasts say that of each chunk. A run's length is
// written by who has the beginning of the next.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "chunk.glsl"
#include "run_head.glsl"
#include "look_back.glsl"

layout(constant_id = 4) const uint SINGLE_PASS = 0;

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 out_keys;
    uvec2 out_counts;
    uvec2 out_runs;   // 0, or where the number of runs goes
    uvec2 counts;     // of the chunks, or states of the parts
    uvec2 lasts;      // of the chunks
    Length length;
    uint chunks;      // or parts: those that have a workgroup
};

// Runs before a part, and the index plus 1 at which the last of them begins. The shares of parts are alike.
shared uvec2 before;

uvec2 share_join(uvec2 of_lane, uvec2 behind) {
    uint count = subgroupAdd(of_lane.x), last = subgroupMax(of_lane.y);
    return uvec2(behind.x + count, max(behind.y, last));
}

uvec2 share_of(uint part) {
    uint n = length_of(length);
    uvec2 share = uvec2(0u);
    for (uint s = 0u; s < gl_NumSubgroups; s++) {
        uint first = part * PART + s * segment_words();
        uvec4 key[QUADS];
        uint heads[QUADS];
        segment_load(keys, first, n, 0u, key);
        run_heads(keys, first, n, key, heads);
        uvec2 more = run_share(first, heads);
        share = uvec2(share.x + more.x, max(share.y, more.y));
    }
    return share;
}

// Where the last run before a chunk begins, plus 1. Collective over the subgroup.
uint last_before(uint chunk) {
    uint last = 0u;
    for (uint next = chunk; next != 0u && last == 0u; next -= min(next, gl_SubgroupSize)) {
        uint found = 0u;
        if (gl_SubgroupInvocationID < next) found = plain_load(address_at(lasts, next - 1u - gl_SubgroupInvocationID, 2u));
        last = subgroupMax(found);
    }
    return last;
}

void main() {
    uint group = workgroup_index();
    if (group >= chunks) return;
    uint n = length_of(length);
    Chunk chunk = chunk_of(n, group, chunks);
    if (SINGLE_PASS != 0u) chunk = Chunk(group, min(group + 1u, (n + PART - 1u) / PART));

    uint me = workgroup_lane();
    uvec2 begin = uvec2(0u);
    if (SINGLE_PASS == 0u) begin = uvec2(chunk_sum(counts, group), last_before(group));
    for (uint part = chunk.part; part < chunk.end; part++) {
        uint first = segment_of(part);
        uvec4 key[QUADS], place[QUADS];
        uint heads[QUADS], rank[QUADS];
        segment_load(keys, first, n, 0u, key);
        run_heads(keys, first, n, key, heads);
        [[unroll]] for (uint q = 0u; q < QUADS; q++) place[q] = first + segment_word(q) + uvec4(0u, 1u, 2u, 3u);
        barrier();   // for the shared words of the round before
        uint count = pack_ranks(heads, rank);
        pack_words(heads, rank, place);
        barrier();
        uint last = count == 0u ? 0u : packed_words[count - 1u] + 1u;
        if (SINGLE_PASS != 0u) {
            if (gl_SubgroupID == 0u) {
                uvec2 looked = look_back_with(counts, part, uvec2(count, last));
                if (gl_SubgroupInvocationID == 0u) before = looked;
            }
            barrier();
            begin = before;
        }
        for (uint r = me; r < count; r += WORKGROUP) {
            uint at = packed_words[r];
            if (r + 1u < count) plain_store(address_at(out_counts, begin.x + r, 2u), packed_words[r + 1u] - at);
            if (r == 0u && begin.x != 0u) plain_store(address_at(out_counts, begin.x - 1u, 2u), at + 1u - begin.y);
        }
        barrier();
        pack_words(heads, rank, key);
        barrier();
        pack_store(out_keys, begin.x, count);
        begin = uvec2(begin.x + count, max(begin.y, last));
    }
    // The last chunk, or part, that has something; of an empty array the first.
    bool ends = chunk.end * PART >= n && (chunk.part < chunk.end || n == 0u && group == 0u);
    if (ends && me == 0u) {
        if (n != 0u) plain_store(address_at(out_counts, begin.x - 1u, 2u), n + 1u - begin.y);
        if ((out_runs.x | out_runs.y) != 0u) plain_store(out_runs, begin.x);
    }
}
