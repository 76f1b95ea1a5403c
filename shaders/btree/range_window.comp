// Writes the first pairs of each range to the range's window, up to the window's size, without counting them before. It
// walks over the ranges' leaves (ranges.glsl).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "ranges.glsl"
#include "invocation.glsl"

layout(constant_id = 17) const uint NUMBERED = 0;   // 1: the ranges are not in their original order

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 ranges;       // two keys per range: the least and the greatest key
    BTreePrefixIndex index;   // where the search for the leaves begins
    uvec2 counts;       // output, one word per range: its number of pairs
    uvec2 out_keys;
    uvec2 out_values;
    Length count;       // the number of ranges
    uint width;         // the size of a window; a range's window begins at this times its index
    uvec2 sources;      // if NUMBERED: one word per range, its original index
};

void main() {
    uint q = invocation_index(), end = length_of(count);
    P range = P(VKDS_ONE, K(0u));
    bool wanted = q < end;
    if (wanted) range = VKDS_SLOT_LOAD(address_at(ranges, q, VKDS_SHIFT + 1u));
    bool enabled = VKDS_UP_TO(range.VKDS_KEY, range.VKDS_VALUE);
    uint number = q, above, result;
    if (NUMBERED != 0u && wanted) number = plain_load_at(sources, q);
    uint leaf = btree_seek(tree, index, range.VKDS_KEY, enabled, above);
    bool spare = (width & (VKDS_PER_QUAD - 1u)) == 0u;
    btree_list(tree, BTreeList(leaf, range, number * width, width), enabled, spare, out_keys, out_values,
               node_visits(tree.pool.blocks), result);
    if (wanted) plain_store_at(counts, q, result);
}
