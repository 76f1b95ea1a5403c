// For test/shader: search.glsl and merge_path.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "search.glsl"
#include "../primitives/merge_path.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 words;     // ascending
    uvec2 others;    // ascending by mask
    uvec2 searches;  // an invocation: a range of words, a key, a diagonal of the merge of all words and others
    uvec2 answers;   // an invocation: lower bound, upper bound, words below the key of the eight at the range's start
                     // (0 if there are not so many), the merge path; the same of the subgroup's first lane's, by all of
                     // it
    uint word_count, other_count;
    uint mask;
    uint count;      // a multiple of the workgroup's invocations
};

void main() {
    uint i = invocation_index();
    if (i >= count) return;   // whole workgroups
    MergePair p = MergePair(words, others, word_count, other_count, mask);
    uvec4 s = plain_load4(address_at(searches, i, 4u));
    uvec4 own = uvec4(lower_bound(words, s.x, s.y, s.z), upper_bound(words, s.x, s.y, s.z), 0u, merge_path(p, s.w));
    uint aligned = s.x & ~3u;
    if (aligned + 8u <= word_count) own.z = lower_bound8(address_at(words, aligned, 2u), s.z);
    s = subgroupBroadcastFirst(s);
    uvec4 all = uvec4(lower_bound_subgroup(words, s.x, s.y, s.z), 0u, 0u, merge_path_subgroup(p, s.w));
    plain_store4(address_at(answers, 2u * i, 4u), own);
    plain_store4(address_at(answers, 2u * i + 1u, 4u), all);
}
