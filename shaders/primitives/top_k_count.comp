// Counts keys by a digit, of those that have the digits before it which the k-th key has. The digit before this one is
// looked for first, by each workgroup for itself.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "top_k.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 counts;   // TOP_K_BINS words for each digit, 0 at first
    uvec2 known;    // a TopK for each digit, out: what was known before it
    Length length;
    uint k;
    uint flip;      // what keys are xored with
    uint digit;     // 0: the highest one
    uint shift;     // where it begins
    uint bits;      // how many it has
};

shared uint bins[TOP_K_BINS];

// Counts each lane's key, if it is wanted. Where all lanes of a subgroup have one digit, as of small numbers, one
// counts them all. Collective over the subgroup.
void count_key(uint key, bool wanted, uint above) {
    uint bin = key >> shift & ((1u << bits) - 1u);
    if (digit != 0u && key >> (shift + bits) != above) wanted = false;
    bool alike = subgroupAllEqual(wanted ? bin : ~0u), first = subgroupElect();
    uint counts_for = alike ? (first ? gl_SubgroupSize : 0u) : 1u;
    if (wanted && counts_for != 0u) atomicAdd(bins[bin], counts_for, gl_ScopeWorkgroup, 0, 0);
}

void main() {
    uint n = length_of(length), me = workgroup_lane();
    TopK at = TopK(0u, min(k, n));
    if (digit != 0u)
        at = top_k_next(top_k_load(address_at(known, digit - 1u, 3u)),
                        address_at(counts, (digit - 1u) * TOP_K_BINS, 2u), TOP_K_BITS);
    if (gl_WorkGroupID.x == 0u && me == 0u) top_k_store(address_at(known, digit, 3u), at);
    for (uint i = me; i < TOP_K_BINS; i += WORKGROUP) bins[i] = 0u;
    barrier();
    Chunk chunk = chunk_of(n, gl_WorkGroupID.x, gl_NumWorkGroups.x);
    for (uint part = chunk.part; part < chunk.end; part++) {
        uvec4 key[QUADS];
        segment_load(keys, segment_of(part), n, 0u, key);
        [[unroll]] for (uint q = 0u; q < QUADS; q++) {
            uint first = segment_of(part) + segment_word(q);
            uvec4 own = key[q] ^ flip;
            count_key(own.x, first < n, at.digits);
            count_key(own.y, first + 1u < n, at.digits);
            count_key(own.z, first + 2u < n, at.digits);
            count_key(own.w, first + 3u < n, at.digits);
        }
    }
    barrier();
    for (uint i = me; i < TOP_K_BINS; i += WORKGROUP)
        if (bins[i] != 0u) atomic_add(address_at(counts, digit * TOP_K_BINS + i, 2u), bins[i]);
}
