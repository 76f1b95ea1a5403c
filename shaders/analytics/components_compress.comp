// Sets each vertex's label to the root of its tree.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "link.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 labels;
    uvec2 left;
    uint vertices;
};

void main() {
    uint v = invocation_index();
    if (v >= vertices) return;
    uint parent = atomic_load(label_at(labels, v));
    for (uint i = 0u; i < LINK_TRIES; i++) {
        uint above = atomic_load(label_at(labels, parent));
        if (above == parent) {
            atomic_store(label_at(labels, v), parent);
            return;
        }
        parent = above;
    }
    atomic_store(label_at(labels, v), parent);
    atomic_or(left, 1u);
}
