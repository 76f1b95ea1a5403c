// Does a batch of operations of one kind on edges, or its pending operations.
//
// An edge of an undirected graph is two arcs, which are done one after the other. The arc from the lesser end comes
// first. If the second one stays pending, `stages` has the status of the first, and the next dispatch tries only the
// second.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "graph.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint KIND = 0;
layout(constant_id = 17) const uint ARCS = 1;    // 2: edges of an undirected graph; 1: arcs
layout(constant_id = 18) const uint LOOPS = 1;   // 0: a vertex has no edge to itself

layout(push_constant, std430) uniform Push {
    Graph graph;
    uvec2 from;       // one vertex per operation
    uvec2 to;
    uvec2 weights;    // one per operation: input, for OP_FIND output; 0: there are none
    uvec2 statuses;   // output: one byte per operation
    uvec2 stages;     // one byte per operation, 0 before; or 0: pending operations begin with the first arc again
    uvec2 keys;       // 0, or output: the ends of each edge as a number of 64 bits, the source or lesser end in the
                      // upper half
    uvec2 pending;    // counts the operations left pending
    uint count;
    uint visits;
    uint retry;       // 1: does only operations whose status is STATUS_PENDING; 2: the same, also at vertices that wait
};

// Whether the second arc of an edge must be done, given the status of the first. An insertion must try it even if the
// first arc was there, because the operation that inserted that may find no room for the second.
bool second(uint status) { return status != STATUS_PENDING && status != STATUS_ABSENT; }

void main() {
    uint i = invocation_index();
    bool todo = i < count;
    uint before = STATUS_PENDING, stage = STATUS_PENDING;
    if (todo && retry != 0u) before = byte_load(statuses, i);
    todo = todo && before == STATUS_PENDING;
    if (todo && retry != 0u && stages != uvec2(0u)) stage = byte_load(stages, i);
    uint a = 0u, b = 0u, value = 0u;
    if (todo) {
        a = plain_load_at(from, i);
        b = plain_load_at(to, i);
        if (weights != uvec2(0u) && op_inserts(KIND)) value = plain_load_at(weights, i);
    }
    if (ARCS == 2u && b < a) {
        uint c = a;
        a = b;
        b = c;
    }
    if (todo && keys != uvec2(0u)) plain_store2(address_at(keys, i, 3u), uvec2(b, a));
    SlabCursor cursor = slab_cursor();
    bool loop = a == b;
    bool works = todo && (LOOPS != 0u || !loop);
    uint status = todo && !works ? STATUS_ABSENT : stage;
    [[dont_unroll]] for (uint arc = 0u; arc < ARCS; arc++) {
        bool mine = works && (arc == 0u ? status == STATUS_PENDING : second(status) && !loop);
        uvec2 ends = arc == 0u ? uvec2(a, b) : uvec2(b, a);
        VKDS_EVENT_BEGIN(mine, KIND, ends.yx, value)
        uint done = graph_apply(graph, cursor, KIND, ends.x, ends.y, value, mine, visits, retry == 2u);
        VKDS_EVENT_PAIR(mine, TRACE_END, 0u, done, ends.yx, value)
        if (arc == 0u) {
            if (mine) status = done;
        } else {
            stage = mine && done == STATUS_PENDING ? status : STATUS_PENDING;
            if (stage != STATUS_PENDING) status = STATUS_PENDING;
        }
    }
    if (ARCS == 2u && stages != uvec2(0u)) byte_store(stages, i, count, stage);
    byte_store(statuses, i, count, todo ? status : before);
    if (todo && KIND == OP_FIND && weights != uvec2(0u))
        plain_store_at(weights, i, status == STATUS_ABSENT ? 0u : value);
    uint left = subgroupBallotBitCount(subgroupBallot(todo && status == STATUS_PENDING));
    if (left != 0u && subgroupElect()) atomic_add(pending, left);
}
