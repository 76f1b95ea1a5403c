// Segment tile: the segments of an array that a workgroup sorts in its shared memory.
//
// Workgroup t has those that begin at elements t * SEGMENT_STRIDE to (t+1) * SEGMENT_STRIDE - 1, if they end within
// SEGMENT_TILE elements from there. So each segment has one workgroup, neighbours share one however short they are, and
// one that does not fit is longer than SEGMENT_TILE - SEGMENT_STRIDE elements, and the last of its workgroup.
#ifndef VKDS_SEGMENT_TILE_GLSL
#define VKDS_SEGMENT_TILE_GLSL

#include "invocation.glsl"

layout(constant_id = 16) const uint SEGMENT_ITEMS = 7;   // elements a lane; odd, for the banks of shared memory
const uint SEGMENT_TILE = WORKGROUP * SEGMENT_ITEMS;
const uint SEGMENT_STRIDE = SEGMENT_TILE / 4u * 3u;

// Whether a segment of elements begin … end-1 is sorted by a workgroup.
bool segment_fits(uint begin, uint end) {
    return end - begin / SEGMENT_STRIDE * SEGMENT_STRIDE <= SEGMENT_TILE;
}

#endif
