// Link: joins the components of two vertices, by linking their trees. Each vertex has a label, which is its parent in a
// tree; the label of a root is the root itself. A compare-and-swap hooks a root to a lesser root, so no invocation
// waits. At the end the root of a component is its least vertex (Sutton, Ben-Nun and Barak, Optimizing Parallel Graph
// Connectivity Computation via Subgraph Sampling, 2018, section 4).
#ifndef VKDS_ANALYTICS_LINK_GLSL
#define VKDS_ANALYTICS_LINK_GLSL

#include "memory.glsl"

// Each try comes nearer to a root, or fails because another invocation's compare-and-swap succeeded.
const uint LINK_TRIES = 1u << 12;

uvec2 label_at(uvec2 labels, uint v) { return address_at(labels, v, 2u); }

// Links two vertices. Returns false if it gave up; otherwise they are in one tree.
bool link(uvec2 labels, uint u, uint v) {
    uint a = atomic_load(label_at(labels, u)), b = atomic_load(label_at(labels, v));
    for (uint i = 0u; i < LINK_TRIES; i++) {
        if (a == b) return true;
        uint high = max(a, b), low = min(a, b);
        uint parent = atomic_load(label_at(labels, high));
        if (parent == low) return true;
        if (parent == high && atomic_cas(label_at(labels, high), high, low) == high) return true;
        a = atomic_load(label_at(labels, atomic_load(label_at(labels, high))));
        b = atomic_load(label_at(labels, low));
    }
    return false;
}

#endif
