// Writes the elements whose flags are set, in their order.
//
// In a single pass each workgroup has a part, and looks back for how many are set in the parts before it. Otherwise it
// has a chunk, and counts says how many each chunk has.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "chunk.glsl"
#include "pack.glsl"
#include "look_back.glsl"

layout(constant_id = 4) const uint SINGLE_PASS = 0;
layout(constant_id = 6) const uint PAIRS = 0;   // 1: elements have values

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 values;
    uvec2 flags;       // a bit an element
    uvec2 out_keys;
    uvec2 out_values;
    uvec2 out_count;   // 0, or where the number of elements written goes
    uvec2 counts;      // of the chunks, or states of the parts
    Length length;
    uint chunks;       // or parts: those that have a workgroup
};

shared uint part_end;   // how many are set in the parts before this one

// The flags of the quad at element at.
uint quad_flags(uint at, uint n) {
    if (at >= n) return 0u;
    return pack_below(plain_load(address_at(flags, at / 32u, 2u)) >> (at & 31u) & 15u, at, n);
}

uvec2 share_join(uvec2 of_lane, uvec2 behind) { return uvec2(behind.x + subgroupAdd(of_lane.x), 0u); }

uvec2 share_of(uint part) {
    uint n = length_of(length);
    uint count = 0u;
    for (uint i = gl_SubgroupInvocationID; i < PART / 4u; i += gl_SubgroupSize) count += uint(bitCount(quad_flags(part * PART + 4u * i, n)));
    return uvec2(subgroupAdd(count), 0u);
}

void main() {
    uint group = workgroup_index();
    if (group >= chunks) return;
    uint n = length_of(length);
    Chunk chunk = chunk_of(n, group, chunks);
    if (SINGLE_PASS != 0u) chunk = Chunk(group, min(group + 1u, (n + PART - 1u) / PART));

    uint end = 0u;
    if (SINGLE_PASS == 0u) end = chunk_sum(counts, group);
    for (uint part = chunk.part; part < chunk.end; part++) {
        uint first = segment_of(part);
        uint set[QUADS], rank[QUADS];
        [[unroll]] for (uint q = 0u; q < QUADS; q++) set[q] = quad_flags(first + segment_word(q), n);
        uvec4 key[QUADS], value[QUADS];
        segment_load(keys, first, n, 0u, key);
        if (PAIRS != 0u) segment_load(values, first, n, 0u, value);
        barrier();   // for the shared words of the round before
        uint count = pack_ranks(set, rank);
        pack_words(set, rank, key);
        if (SINGLE_PASS != 0u && gl_SubgroupID == 0u) {
            uvec2 looked = look_back_with(counts, part, uvec2(count, 0u));
            if (gl_SubgroupInvocationID == 0u) part_end = looked.x;
        }
        barrier();
        if (SINGLE_PASS != 0u) end = part_end;
        pack_store(out_keys, end, count);
        if (PAIRS != 0u) {
            barrier();
            pack_words(set, rank, value);
            barrier();
            pack_store(out_values, end, count);
        }
        end += count;
    }
    // The last chunk, or part, that has something; of an empty array the first.
    bool ends = chunk.end * PART >= n && (chunk.part < chunk.end || n == 0u && group == 0u);
    if (ends && (out_count.x | out_count.y) != 0u && gl_SubgroupID == 0u && subgroupElect()) plain_store(out_count, end);
}
