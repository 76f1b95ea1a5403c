// Neighbors in the lists of slabs of a graph (graph.glsl), while nobody changes it: slots are neighbours, but for those
// that are empty or erased. A place is a slot, counted over the whole pool.
//
// A vertex of one bucket, which most are, has as many lanes as neighbours, at most as a slab has slots, and a lane goes
// on by as many slots as there are lanes. Slots fill in order, so that with nothing erased each lane has its neighbour
// at its first place, and nobody goes on. A vertex of several has a lane for each slot of its base slabs, which follow
// one another in the pool, and a lane goes on to the same slot of the slab that hangs behind its own.
#ifndef VKDS_ANALYTICS_NEIGHBORS_LIVE_GLSL
#define VKDS_ANALYTICS_NEIGHBORS_LIVE_GLSL

#include "graph.glsl"

layout(constant_id = 17) const uint WEIGHTED = 0;   // 1: slots are pairs of a neighbour and a weight

const uint SLOT_SHIFT = 2u + WEIGHTED;   // log2 of a slot's bytes
const uint ROW_SLOTS = SLAB_AUX_AT >> SLOT_SHIFT;   // of a slab

struct Rows {
    uvec2 table;         // of the pool,
    uvec2 units;         // as SlabPool has them
    uvec2 descriptors;   // of vertices, as Graph has them
    uint vertices;
    uint blocks;         // of the pool; it has fewer slots than there are words
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

// A row without its first lanes, and with so many at most.
Row row_part(Row row, uint skip, uint most) {
    return Row(row.first + skip, min(row.lanes - min(skip, row.lanes), most), row.step);
}

// Arcs of a vertex, and the same by the array that says it (Rows.descriptors).
uint degree_at(uvec2 descriptors, uint v) {
    return plain_load(address_add(address_at(descriptors, v, GRAPH_VERTEX_SHIFT), GRAPH_DEGREE_AT));
}
uint row_degree(Rows g, uint v) { return degree_at(g.descriptors, v); }

uvec2 slab_of(Rows g, uint number) {
    return slab_address(rows_pool(g), pool_slab(min(number, (g.blocks << 10) - 1u)));   // as in neighbors_csr.glsl
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

// Whether any lane of a row may go on, by whether there are lanes without a neighbour.
bool row_goes_on(Row row, bool gaps) { return gaps || row.step == ROW_SLOTS; }

// Where a lane goes on; PLACE_NONE behind its last neighbour.
uint place_behind(Rows g, uint place, uint step) {
    uint number = place / ROW_SLOTS, slot = place - number * ROW_SLOTS + step;
    uvec2 slab = slab_of(g, number);
    if (slot < ROW_SLOTS)
        return plain_load(address_add(slab, slot << SLOT_SHIFT)) == SLAB_EMPTY ? PLACE_NONE : place + step;
    uint next = plain_load(address_add(slab, SLAB_NEXT_AT));
    if (next == SLAB_NULL || !pool_has(rows_pool(g), next)) return PLACE_NONE;
    return pool_number(next) * ROW_SLOTS + slot - ROW_SLOTS;
}

// More rounds than a lane has to go, unless slabs lead in circles.
uint lane_rounds(Rows g) { return (g.blocks << 10) * ROW_SLOTS; }

#endif
