// Link: links two vertices into one tree, and so joins their components. Each vertex has a label, its parent in the
// tree; the label of a root is itself. A compare-and-swap hooks a root to a lesser one, so no invocation waits, and in
// the end the root of a component is its least vertex (Sutton, Ben-Nun and Barak, Optimizing Parallel Graph
// Connectivity Computation via Subgraph Sampling, 2018, section 4).
#ifndef VKDS_ANALYTICS_LINK_GLSL
#define VKDS_ANALYTICS_LINK_GLSL

#include "memory.glsl"

// Each try is nearer to a root, or one that another invocation succeeded in.
const uint LINK_TRIES = 1u << 12;

uvec2 label_at(uvec2 labels, uint v) { return address_at(labels, v, 2u); }

// Whether the vertices are in one tree now; false: given up.
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
