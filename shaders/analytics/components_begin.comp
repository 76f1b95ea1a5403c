// Makes each vertex a component of its own.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "invocation.glsl"
#include "memory.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 labels;
    uint vertices;
};

void main() {
    uint v = invocation_index();
    if (v < vertices) plain_store_at(labels, v, v);
}
