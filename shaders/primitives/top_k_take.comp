// Writes the k least keys, each with its value or its index, in the order of the input: the keys less than the k-th
// one, and the first of those equal to it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "top_k.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 values;       // 0: the keys' indices are the values
    uvec2 bound;        // a TopK: the k-th key, and the number of keys equal to it that are wanted
    uvec2 less;         // for each chunk, the number of keys less than the k-th one
    uvec2 equals;       // for each chunk, the number of keys equal to it
    uvec2 out_keys;     // output: xored with flip
    uvec2 out_values;
    Length length;
    uint flip;
    uint most;          // the number of keys that fit into the output, at least one
};

// Takes the wanted keys of a quad. `set` are the keys less than the k-th one, `like` those equal to it; `before` and
// `same` are the numbers of such keys before the quad.
void take(uvec4 quad, uint at, uint set, uint like, uint before, uint same, uint left) {
    [[unroll]] for (uint c = 0u; c < QUAD_KEYS; c++) {
        bool is_less = (set >> c & 1u) != 0u, is_equal = (like >> c & 1u) != 0u;
        uint place = min(before + min(same, left), most - 1u);   // within the output, whatever counts say
        if (is_less || (is_equal && same < left)) {
            key_store_at(out_keys, place, quad_key(quad, c));
            value_store_at(out_values, place, (values.x | values.y) != 0u ? value_load_at(values, at + c) : V(at + c));
        }
        before += set >> c & 1u;
        same += like >> c & 1u;
    }
}

void main() {
    uint n = length_of(length);
    TopK at = top_k_load(bound);
    Chunk chunk = chunk_of(n, gl_WorkGroupID.x, gl_NumWorkGroups.x);
    // The numbers of keys less than the k-th one, and equal to it, before this part.
    uint before = chunk_sum(less, gl_WorkGroupID.x);
    barrier();
    uint same = chunk_sum(equals, gl_WorkGroupID.x);
    for (uint part = chunk.part; part < chunk.end; part++) {
        uint first = segment_of(part);
        uvec4 key[QUADS];
        segment_load(keys, first, n, KEY_LEAST, key);
        // Both counts fit into one word: a part has fewer than 2^16 keys.
        uint set[QUADS], like[QUADS], count[QUADS], rank[QUADS], sums;
        [[unroll]] for (uint q = 0u; q < QUADS; q++) {
            key[q] ^= flip;
            set[q] = top_k_less(key[q], at.key, first + segment_key(q), n);
            like[q] = top_k_equal(key[q], at.key, first + segment_key(q), n);
            count[q] = uint(bitCount(set[q])) | uint(bitCount(like[q])) << 16;
        }
        barrier();   // the previous round may still be reading the sums
        uint own = workgroup_before(segment_scan(count, rank), sums);
        [[unroll]] for (uint q = 0u; q < QUADS; q++) {
            uint ranks = own + rank[q];
            take(key[q], first + segment_key(q), set[q], like[q], before + (ranks & 0xffffu), same + (ranks >> 16),
                 at.left);
        }
        before += sums & 0xffffu;
        same += sums >> 16;
    }
}
