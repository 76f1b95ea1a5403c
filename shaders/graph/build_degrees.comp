// Checks the ends of edges, and counts the arcs of each vertex, equal ones included.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "build.glsl"

layout(push_constant, std430) uniform Push {
    BuildEdges edges;
    uvec2 degrees;   // a word per vertex, 0 at first; 0: they are known
    uvec2 noted;     // a word, 0 at first: BUILD_…
    uint vertices;
};

void main() {
    uint first = build_first();
    uint a[BUILD_EACH], b[BUILD_EACH], arcs[BUILD_EACH];
    [[unroll]] for (uint k = 0u; k < BUILD_EACH; k++) {
        a[k] = b[k] = arcs[k] = 0u;
        uint i = build_item(first, k);
        if (i < edges.count) arcs[k] = build_edge(edges, i, a[k], b[k]);
    }
    [[unroll]] for (uint k = 0u; k < BUILD_EACH; k++) {
        bool sound = max(a[k], b[k]) < vertices;
        if (!sound) atomic_or(noted, BUILD_WRONG);
        if (arcs[k] == 0u && build_item(first, k) < edges.count) atomic_or(noted, BUILD_LESS);
        if (!sound || degrees == uvec2(0u)) continue;
        if (arcs[k] > 0u) atomic_add(address_at(degrees, a[k], 2u), 1u);
        if (arcs[k] > 1u) atomic_add(address_at(degrees, b[k], 2u), 1u);
    }
}
