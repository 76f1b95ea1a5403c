// Plans the inner nodes above existing leaves. By one invocation.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "build.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uint leaves;
    uint node_most;   // the greatest number of children of an inner node
};

void main() {
    if (invocation_index() == 0u) plan_write(tree.state, PlanLevel(1u, leaves, 0u, 0u), node_most, 0u);
}
