// Segment tile: the segments of an array that a workgroup sorts in its shared memory.
//
// Workgroup t has the segments that begin at the elements t * SEGMENT_STRIDE … (t+1) * SEGMENT_STRIDE - 1 and end
// within SEGMENT_TILE elements from the first of these. So each segment has one workgroup, and many short segments
// share one. A segment that does not fit is longer than SEGMENT_TILE - SEGMENT_STRIDE elements, and the last of its
// workgroup.
#ifndef VKDS_SEGMENT_TILE_GLSL
#define VKDS_SEGMENT_TILE_GLSL

#include "invocation.glsl"

layout(constant_id = 16) const uint SEGMENT_ITEMS = 7;   // elements per lane; odd, to use different banks
const uint SEGMENT_TILE = WORKGROUP * SEGMENT_ITEMS;
const uint SEGMENT_STRIDE = SEGMENT_TILE / 4u * 3u;

// Whether a workgroup sorts the segment of the elements begin … end-1.
bool segment_fits(uint begin, uint end) {
    return end - begin / SEGMENT_STRIDE * SEGMENT_STRIDE <= SEGMENT_TILE;
}

#endif
