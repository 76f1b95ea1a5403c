// B-link-tree, batched updates: nodes in shared memory, with a row of pairs for each lane of a workgroup. All lanes
// read and write them together, so that consecutive lanes access consecutive words. If each lane read a node alone,
// every load would touch as many cache lines as there are lanes.
#ifndef VKDS_BTREE_BATCH_STAGE_GLSL
#define VKDS_BTREE_BATCH_STAGE_GLSL

#include "btree_node.glsl"
#include "unroll.glsl"
#include "workgroup.glsl"

// Before this header, define STAGE_NODES as the number of nodes in a row, 1 or 2.
const uint STAGE_ROW = STAGE_NODES * NODE_PAIRS + 1u;   // odd, so that the lanes' rows begin in different banks
const uint STAGE_QUADS = STAGE_NODES * 8u;
shared P staged[WORKGROUP * STAGE_ROW];
shared uint staged_slab[WORKGROUP * STAGE_NODES];       // the slabs of the nodes; SLAB_NULL: there is no node

P staged_pair(uint row, uint pair) { return staged[row * STAGE_ROW + pair]; }
void stage_pair(uint row, uint pair, P v) { staged[row * STAGE_ROW + pair] = v; }

// Reads the first node of each row. Collective over the workgroup. A barrier must come before it, after staged_slab was
// set, and another one after it.
void stage_load(SlabPool pool) {
    uvec4 quad[8];
    VKDS_UNROLL for (uint q = 0u; q < 8u; q++) {
        uint at = q * WORKGROUP + workgroup_lane(), slab = staged_slab[(at >> 3) * STAGE_NODES];
        if (slab != SLAB_NULL) quad[q] = plain_load4(address_add(slab_address(pool, slab), (at & 7u) * 16u));
    }
    VKDS_UNROLL for (uint q = 0u; q < 8u; q++) {
        uint at = q * WORKGROUP + workgroup_lane(), pair = (at >> 3) * STAGE_ROW + (at & 7u) * VKDS_QUAD_SLOTS;
#if VKDS_WIDE
        staged[pair] = quad[q];
#else
        staged[pair] = quad[q].xy;
        staged[pair + 1u] = quad[q].zw;
#endif
    }
}

// Writes all nodes of all rows. Collective over the workgroup. A barrier must come before.
void stage_store(SlabPool pool) {
    VKDS_UNROLL for (uint q = 0u; q < STAGE_QUADS; q++) {
        uint at = q * WORKGROUP + workgroup_lane(), row = at / STAGE_QUADS;
        uint pair = row * STAGE_ROW + (at % STAGE_QUADS) * VKDS_QUAD_SLOTS;
        uint slab = staged_slab[at >> 3];
        if (slab != SLAB_NULL)
            plain_store4(address_add(slab_address(pool, slab), (at & 7u) * 16u),
#if VKDS_WIDE
                         staged[pair]);
#else
                         uvec4(staged[pair], staged[pair + 1u]));
#endif
    }
}

#endif
