// Copies the nodes of cells, and has the cells refer to the copies.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "invocation.glsl"
#include "scene.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 cells;
    uvec2 copies;   // 128 bytes per cell
    uint count;
};

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    Cell cell = scene_cell(cells, i);
    uvec2 copy = address_at(copies, i, 7u);
    for (uint q = 0u; q < 128u; q += 16u) plain_store4(address_add(copy, q), plain_load4(address_add(cell.node, q)));
    cell.node = copy;
    scene_store(cells, i, cell);
}
