// Run index: writes a run's index (sorted_run.glsl) key by key, in the kernel that writes the run.
#ifndef VKDS_RUN_INDEX_GLSL
#define VKDS_RUN_INDEX_GLSL

#include "sorted_run.glsl"

// Puts key i of a run of `size` pairs into all levels of the index that have it. `words` is the number of keys in the
// index. It does not pad the levels to whole nodes.
void run_index_put(uvec2 index, uint words, uint size, uint i, K key) {
    for (uint shift = RUN_NODE_SHIFT; (i & ((1u << shift) - 1u)) == 0u; shift += RUN_NODE_SHIFT) {
        uint below = ((size - 1u) >> (shift - RUN_NODE_SHIFT)) + 1u;
        if (below <= RUN_NODE) return;   // the level below is the top
        words -= (((size - 1u) >> shift) + RUN_NODE) & ~(RUN_NODE - 1u);
        VKDS_STORE(address_at(index, words + (i >> shift), VKDS_SHIFT), key);
    }
}

#endif
