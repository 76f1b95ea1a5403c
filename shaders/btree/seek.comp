// Finds the leaf where each range begins.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_search.glsl"
#include "range_part.glsl"
#include "length.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    BTreePrefixIndex index;
    uvec2 ranges;   // two keys per range: the least and the greatest key
    uvec2 leaves;   // output, one word per part of a range: its leaf; SLAB_NULL for empty ones
    uvec2 zeroed;   // output: two words, 0. 0: not wanted
    Length number;  // the number of ranges. Later ones, up to the upper bound, are treated as empty
    uint shift;     // log2 of the number of parts per range
};

void main() {
    uint q = invocation_index(), count = number.n << shift;
    P range = P(VKDS_ONE, K(0u));
    if (q < length_of(number) << shift) range = range_part(ranges, q, shift);
    bool enabled = VKDS_UP_TO(range.VKDS_KEY, range.VKDS_VALUE);
    uint above;
    uint leaf = btree_seek(tree, index, range.VKDS_KEY, enabled, above);
    if (q < count) plain_store_at(leaves, q, enabled ? leaf : SLAB_NULL);
    if (q == 0u && (zeroed.x | zeroed.y) != 0u) plain_store2(zeroed, uvec2(0u));
}
