// Keeps one arc of each edge: the one to the end with more neighbours, or, if both have as many, to the greater number.
// Writes them as rows, in no order. All vertices form one large frontier, so that no workgroup gets a hub alone.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "traversal.glsl"

// Push constants. own: the step, OWN_…; values: output, the targets of the rows; marks: one word per vertex, the number
// of arcs in its row, or where its next arc goes; more: the number of arcs that fit into the output.
const uint OWN_GATHER = 0u;   // put all vertices into the queue
const uint OWN_COUNT = 1u;
const uint OWN_FILL = 2u;

uint departure_value(uint v) { return row_degree(graph, v); }

uvec2 arrival_look(uint u, uint place) { return uvec2(row_degree(graph, u), 0u); }

uint arrival_take(uint u, uvec2 looked, uint value, uint from) {
    if (looked.x < value || looked.x == value && u <= from) return TAKEN_NOT;
    uint at = atomic_add(address_at(marks, from, 2u), 1u);
    if (own == OWN_FILL && at < more) plain_store_at(values, at, u);
    return TAKEN_NOT;
}

void keep_back(uint u[BATCH], inout uint taken[BATCH]) {}
void put_aside(uint u[BATCH], uint taken[BATCH]) {}

void main() {
    if (workgroup_lane() == 0u) round_now = own == OWN_GATHER ? ~0u : 0u;   // so that the next round is 0
    barrier();
    if (own != OWN_GATHER) {
        expand_large(STAGE);
        return;
    }
    uint first = workgroup_index() * BATCH * WORKGROUP + workgroup_lane();
    uint u[BATCH], taken[BATCH];
    [[unroll]] for (uint i = 0u; i < BATCH; i++) {
        u[i] = min(first + i * WORKGROUP, graph.vertices - 1u);
        taken[i] = u[i] == first + i * WORKGROUP ? TAKEN_NEXT : TAKEN_NOT;
    }
    queue_push(u, taken);
}
