// Counts keys by a digit, among the keys that have the same earlier digits as the k-th key. Each workgroup first finds
// the previous digit of the k-th key.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "top_k.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 counts;   // TOP_K_BINS words per digit, 0 before
    uvec2 known;    // output, one TopK per digit: what was known before it
    Length length;
    uint k;
    uint flip;      // keys are xored with it
    uint digit;     // 0: the highest digit
    uint shift;     // the digit's first bit
};

shared uint bins[TOP_K_BINS];

// Counts each lane's key, if it is wanted. If all lanes of a subgroup have the same digit, as is common with small
// numbers, one lane counts for all. Collective over the subgroup.
void count_key(K key, bool wanted, K known_digits, K known_bits) {
    uint bin = number_bits(key, shift, (1u << top_k_bits(shift)) - 1u);
    if (!number_equal(key & known_bits, known_digits)) wanted = false;
    bool alike = subgroupAllEqual(wanted ? bin : ~0u), first = subgroupElect();
    uint counts_for = alike ? (first ? gl_SubgroupSize : 0u) : 1u;
    if (wanted && counts_for != 0u) atomicAdd(bins[bin], counts_for, gl_ScopeWorkgroup, 0, 0);
}

void main() {
    uint n = length_of(length), me = workgroup_lane();
    TopK at = TopK(KEY_LEAST, min(k, n), 0u);
    if (digit != 0u)
        at = top_k_next(top_k_load(address_at(known, digit - 1u, TOP_K_SHIFT)),
                        address_at(counts, (digit - 1u) * TOP_K_BINS, 2u), shift + top_k_bits(shift));
    if (gl_WorkGroupID.x == 0u && me == 0u) top_k_store(address_at(known, digit, TOP_K_SHIFT), at);
    if (at.all != 0u) return;
    for (uint i = me; i < TOP_K_BINS; i += WORKGROUP) bins[i] = 0u;
    barrier();
    K before = top_k_before(shift);
    Chunk chunk = chunk_of(n, gl_WorkGroupID.x, gl_NumWorkGroups.x);
    for (uint part = chunk.part; part < chunk.end; part++) {
        uvec4 key[QUADS];
        segment_load(keys, segment_of(part), n, KEY_LEAST, key);
        [[unroll]] for (uint q = 0u; q < QUADS; q++) {
            uint first = segment_of(part) + segment_key(q);
            [[unroll]] for (uint c = 0u; c < QUAD_KEYS; c++)
                count_key(quad_key(key[q] ^ flip, c), first + c < n, at.key, before);
        }
    }
    barrier();
    for (uint i = me; i < TOP_K_BINS; i += WORKGROUP)
        if (bins[i] != 0u) atomic_add(address_at(counts, digit * TOP_K_BINS + i, 2u), bins[i]);
}
