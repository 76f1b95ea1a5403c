// Writes the results of a join, or a window of them. Each lane writes one result, so rows with many matches take no
// longer than rows with few. It finds the row in `offsets`, which has the number of results before each row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "length.glsl"
#include "number.glsl"
#include "search.glsl"
#include "workgroup.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 offsets;      // one number of 64 bits per left row
    uvec2 total;        // the address of the number of all results, of 64 bits
    uvec2 lower;        // where the matches of each left row begin
    uvec2 upper;        // where they end
    uvec2 rights;       // the right row of each match
    uvec2 out_lefts;
    uvec2 out_rights;   // 0, or an output as well
    uvec2 first;        // the first result to write, of 64 bits
    Length length;      // left rows
    uint capacity;      // the most results to write
    uint right_rows;    // the most right rows
};

const uint NONE = ~0u;

shared uint row_ends[2];

void main() {
    uint rows = length_of(length);
    uint begin = workgroup_index() * WORKGROUP;
    uvec2 all = plain_load2(total);
    uvec2 rest = number_below(first, all) ? number_subtract(all, first) : uvec2(0u);
    uint count = rest.y != 0u ? capacity : min(capacity, rest.x);
    if (begin >= count || rows == 0u) return;   // the whole workgroup
    uint end = min(count - begin, WORKGROUP) + begin;

    // The row of a result is the last one that begins at or before it: rows without results begin where the next one
    // does. Two subgroups, or one, find the rows of the first and the last result of the workgroup.
    for (uint i = gl_SubgroupID; i < 2u; i += gl_NumSubgroups) {
        uvec2 of = number_add(first, uvec2(i == 0u ? begin + 1u : end, 0u));
        uint row = max(lower_bound_subgroup(offsets, 0u, rows, of), 1u) - 1u;
        if (subgroupElect()) row_ends[i] = row;
    }
    barrier();
    uint result = begin + workgroup_lane();
    if (result >= end) return;
    uvec2 of = number_add(first, uvec2(result + 1u, 0u));
    uint row = max(lower_bound(offsets, row_ends[0], row_ends[1] + 1u, of), 1u) - 1u;
    plain_store_at(out_lefts, result, row);
    if ((out_rights.x | out_rights.y) == 0u) return;
    uint match = number_subtract(number_add(first, uvec2(result, 0u)), plain_load2(address_at(offsets, row, 3u))).x;
    uint low = plain_load_at(lower, row);
    uint right = NONE;
    if (match < plain_load_at(upper, row) - low) right = plain_load_at(rights, min(low + match, right_rows - 1u));
    plain_store_at(out_rights, result, right);
}
