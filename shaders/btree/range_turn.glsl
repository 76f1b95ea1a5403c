// Range turns: walks over the leaves of ranges. Each lane has a range or a part of one. A tile walks over its lanes'
// ranges one after another.
#ifndef VKDS_BTREE_RANGE_TURN_GLSL
#define VKDS_BTREE_RANGE_TURN_GLSL

#include "btree_walk.glsl"

// If `next`, turns to the next lane's range. Collective.
void turn(uint open, uint node, P range, bool next, inout BTreeWalk walk) {
    uint source = tile_first(open);
    uint its_node = tile_shuffle(node, source);
    P its_range = tile_shuffle(range, source);
    walk.node = next ? its_node : walk.node;
    walk.low = next ? its_range.VKDS_KEY : walk.low;
    walk.high = next ? its_range.VKDS_VALUE : walk.high;
    walk.met = next ? 0u : walk.met;
}

#endif
