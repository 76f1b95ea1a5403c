// Makes the arcs of edges, to be sorted by their buckets: one per edge, or two consecutive ones per undirected edge. So
// a stable sort keeps the order of edges in both directions. The key is the number of the bucket among those of all
// vertices, and the value is the target. With weights, a key has 64 bits, the number of the bucket in the upper half
// and the target in the lower one, and the value is the weight.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "build.glsl"

layout(push_constant, std430) uniform Push {
    BuildEdges edges;
    uvec2 weights;   // 0: there are none
    uvec2 places;    // vertices + 1 words: the number of buckets of earlier vertices
    uvec2 keys;      // output
    uvec2 values;    // output
    uint buckets;    // of all vertices: also the key of an arc that is left out
    uint seed;       // of the graph
};

// The key of an arc from a vertex whose buckets begin and end with these numbers.
uint key_of(uint begin, uint end, uint to) {
    return begin + hash_reduce(hash_mix(graph_encode(to) ^ seed), end - begin);
}

void put(uint arc, uint key, uint to, uint weight) {
    if (weights != uvec2(0u)) {
        plain_store2(address_at(keys, arc, 3u), uvec2(graph_encode(to), key));
        plain_store_at(values, arc, weight);
    } else {
        plain_store_at(keys, arc, key);
        plain_store_at(values, arc, graph_encode(to));
    }
}

void main() {
    uint first = build_first();
    uint a[BUILD_EACH], b[BUILD_EACH], arcs[BUILD_EACH], weight[BUILD_EACH], there[BUILD_EACH], back[BUILD_EACH];
    [[unroll]] for (uint k = 0u; k < BUILD_EACH; k++) {
        uint i = build_item(first, k);
        a[k] = b[k] = arcs[k] = weight[k] = 0u;
        if (i < edges.count) {
            arcs[k] = build_edge(edges, i, a[k], b[k]);
            if (weights != uvec2(0u)) weight[k] = plain_load_at(weights, i);
        }
    }
    [[unroll]] for (uint k = 0u; k < BUILD_EACH; k++) {
        there[k] = back[k] = buckets;
        if (arcs[k] > 0u) there[k] = key_of(plain_load_at(places, a[k]), plain_load_at(places, a[k] + 1u), b[k]);
        if (arcs[k] > 1u) back[k] = key_of(plain_load_at(places, b[k]), plain_load_at(places, b[k] + 1u), a[k]);
    }
    [[unroll]] for (uint k = 0u; k < BUILD_EACH; k++) {
        uint i = build_item(first, k), arc = i << edges.both;
        if (i >= edges.count) continue;
        put(arc, there[k], b[k], weight[k]);
        if (edges.both != 0u) put(arc + 1u, back[k], a[k], weight[k]);
    }
}
