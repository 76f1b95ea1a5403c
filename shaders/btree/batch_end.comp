// Ends a batch: marks the slabs that became nodes as allocated. If the pool is SHARED, the host has allocated them, and
// the kernel writes how many were used.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BATCH_LEAVES 0
#include "batch_nodes.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 control;
    uvec2 free;      // as in batch_slab
    uvec2 pending;   // 0, or a counter to which `count` is added if the batch could not be done
    uint count;
};

void main() {
    uint i = invocation_index();
    Work w = Work(control, 0u, 0u, 0u, 0u);
    if (i == 0u && (pending.x | pending.y) != 0u && work_load(batch_control(w, 0u, BATCH_FAILED_AT), 0u) != 0u)
        atomic_add(pending, count);
    uint nodes = 0u;
    [[dont_unroll]] for (uint level = 0u; level < 16u; level++)
        nodes += work_load(batch_control(w, level, BATCH_OUTPUTS_AT), 0u);
    if (SHARED != 0u && i == 0u) plain_store(free, nodes);
    if (SHARED != 0u || i >= tree.pool.blocks) return;
    uint before = plain_load_near(free, 2u * i);
    if (before >= nodes) return;
    uint left = nodes - before, part = 0u, in_part = 0u;   // at most one quad of words is taken in part
    uvec2 at = pool_block(tree.pool, i);
    uvec4 quad[8];
    [[unroll]] for (uint q = 0u; q < 8u; q++) quad[q] = plain_load4(address_add(at, q * 16u));
    [[unroll]] for (uint q = 0u; q < 8u; q++) {
        uvec4 counts = uvec4(bitCount(~quad[q]));
        uint count = counts.x + counts.y + counts.z + counts.w;
        if (count != 0u && left >= count) plain_store4(address_add(at, q * 16u), uvec4(~0u));
        bool some = left != 0u && left < count;
        part = some ? q : part;
        in_part = some ? left : in_part;
        left -= min(left, count);
    }
    for (uint word = 4u * part; in_part != 0u && word < 32u; word++) {
        uint used = plain_load_near(at, word), take = pool_lowest_bits(~used, in_part);
        plain_store_near(at, word, used | take);
        in_part -= uint(bitCount(take));
    }
}
