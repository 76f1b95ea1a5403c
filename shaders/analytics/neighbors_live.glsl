// Neighbors in the slab lists of a graph (graph.glsl), in a read-only phase of the graph. A place is the number of a
// slot in the whole pool. Empty and erased slots have no neighbour.
//
// Most vertices have one bucket. Their row has as many lanes as neighbours, but at most as many as a slab has slots,
// and a lane's next place is as many slots further as there are lanes. Slots are filled in order. So if nothing was
// erased and all fit into one slab, each lane has its neighbour at its first place, and no lane goes on. The row of a
// hub has a lane for each slot of its base slabs, which are consecutive in the pool. A lane's next place is the same
// slot of the next slab in the bucket.
#ifndef VKDS_ANALYTICS_NEIGHBORS_LIVE_GLSL
#define VKDS_ANALYTICS_NEIGHBORS_LIVE_GLSL

#include "graph.glsl"

layout(constant_id = 17) const uint WEIGHTED = 0;   // 1: slots are pairs of a neighbour and a weight

const uint SLOT_SHIFT = 2u + WEIGHTED;   // log2 of a slot's bytes
const uint ROW_SLOTS = SLAB_AUX_AT >> SLOT_SHIFT;   // slots per slab

struct Rows {
    uvec2 table;         // as in SlabPool
    uvec2 units;         // as in SlabPool
    uvec2 descriptors;   // of the vertices, as in Graph
    uint vertices;
    uint blocks;         // the pool's number of blocks; it has fewer than 2^32 slots
};

struct Row { uint first, lanes, step; };

SlabPool rows_pool(Rows g) { return SlabPool(g.table, g.units, g.blocks, 0u); }

Row row_none() { return Row(0u, 0u, 0u); }

Row row_of(Rows g, uint v) {
    GraphVertex of = graph_vertex_of(plain_load4(address_at(g.descriptors, v, GRAPH_VERTEX_SHIFT)));
    if (of.degree == 0u || !pool_has(rows_pool(g), of.base)) return row_none();
    uint number = pool_number(of.base);
    if (of.buckets <= 1u) {
        uint lanes = min(of.degree, ROW_SLOTS);
        return Row(number * ROW_SLOTS, lanes, lanes);
    }
    return Row(number * ROW_SLOTS, min(of.buckets, (g.blocks << 10) - number) * ROW_SLOTS, ROW_SLOTS);
}

// A row without its first `skip` lanes, and with at most `most` of the others.
Row row_part(Row row, uint skip, uint most) {
    return Row(row.first + skip, min(row.lanes - min(skip, row.lanes), most), row.step);
}

// The number of arcs of a vertex: from the array of descriptors alone, or of the graph.
uint degree_at(uvec2 descriptors, uint v) {
    return plain_load(address_add(address_at(descriptors, v, GRAPH_VERTEX_SHIFT), GRAPH_DEGREE_AT));
}
uint row_degree(Rows g, uint v) { return degree_at(g.descriptors, v); }

uvec2 slab_of(Rows g, uint number) {
    return slab_address(rows_pool(g), pool_slab(min(number, (g.blocks << 10) - 1u)));   // see neighbors_csr.glsl
}

uint neighbor_at(Rows g, uint place) {
    uint number = place / ROW_SLOTS, slot = place - number * ROW_SLOTS;
    uint key = plain_load(address_add(slab_of(g, number), slot << SLOT_SHIFT));
    return key == SLAB_EMPTY || key == SLAB_TOMBSTONE ? NEIGHBOR_NONE : min(graph_decode(key), g.vertices - 1u);
}

uint weight_at(Rows g, uint place) {
    if (WEIGHTED == 0u) return 1u;
    uint number = place / ROW_SLOTS, slot = place - number * ROW_SLOTS;
    return plain_load(address_add(slab_of(g, number), (slot << SLOT_SHIFT) + 4u));
}

bool neighbor_there(uint u) { return u != NEIGHBOR_NONE; }

const bool LANES_GO_ON = true;
uint row_step(Row row) { return row.step; }

// Whether any lane of a row may go on. `gaps` tells whether a lane has no neighbour at its first place.
bool row_goes_on(Row row, bool gaps) { return gaps || row.step == ROW_SLOTS; }

// A lane's next place; PLACE_NONE after its last neighbour.
uint place_behind(Rows g, uint place, uint step) {
    uint number = place / ROW_SLOTS, slot = place - number * ROW_SLOTS + step;
    uvec2 slab = slab_of(g, number);
    if (slot < ROW_SLOTS)
        return plain_load(address_add(slab, slot << SLOT_SHIFT)) == SLAB_EMPTY ? PLACE_NONE : place + step;
    uint next = plain_load(address_add(slab, SLAB_NEXT_AT));
    if (next == SLAB_NULL || !pool_has(rows_pool(g), next)) return PLACE_NONE;
    return pool_number(next) * ROW_SLOTS + slot - ROW_SLOTS;
}

// An upper bound of the rounds of a lane, unless the slabs of a list form a cycle.
uint lane_rounds(Rows g) { return (g.blocks << 10) * ROW_SLOTS; }

#endif
