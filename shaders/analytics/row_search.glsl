// Row search: whether a row of ascending targets contains a target, by binary search.
#ifndef VKDS_ANALYTICS_ROW_SEARCH_GLSL
#define VKDS_ANALYTICS_ROW_SEARCH_GLSL

#include "neighbors.glsl"

bool in_row(Rows g, uint target, uint first, uint lanes) {
    uint low = first, high = first + lanes;
    while (low < high) {
        uint middle = low + (high - low) / 2u;
        uint there = neighbor_at(g, middle);
        if (there == target) return true;
        if (there < target) low = middle + 1u;
        else high = middle;
    }
    return false;
}

#endif
