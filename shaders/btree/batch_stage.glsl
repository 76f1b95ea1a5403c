// B-link-tree, batched updates: nodes in shared memory, a row of pairs for each lane of a workgroup. All lanes together
// read and write them, so that neighbouring lanes take neighbouring words; a lane that read a node by itself would
// touch as many lines as the other lanes, with every load.
#ifndef VKDS_BTREE_BATCH_STAGE_GLSL
#define VKDS_BTREE_BATCH_STAGE_GLSL

#include "btree_node.glsl"
#include "unroll.glsl"
#include "workgroup.glsl"

// Define STAGE_NODES as how many nodes a row has, 1 or 2, before this header.
const uint STAGE_ROW = STAGE_NODES * NODE_PAIRS + 1u;   // odd, so that the lanes' rows begin in different banks
const uint STAGE_QUADS = STAGE_NODES * 8u;
shared P staged[WORKGROUP * STAGE_ROW];
shared uint staged_slab[WORKGROUP * STAGE_NODES];       // whose nodes they are; SLAB_NULL: nobody's

P staged_pair(uint row, uint pair) { return staged[row * STAGE_ROW + pair]; }
void stage_pair(uint row, uint pair, P v) { staged[row * STAGE_ROW + pair] = v; }

// Reads the first node of each row. Collective over the workgroup; between staged_slab and this lies a barrier, and
// between this and what it has read, too.
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

// Writes all nodes of all rows. Collective over the workgroup; before it lies a barrier.
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
