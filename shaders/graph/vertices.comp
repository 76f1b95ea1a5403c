// Inserts vertices, or marks them as deleted. sweep.comp then removes their edges.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "graph.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint DELETES = 0;

layout(push_constant, std430) uniform Push {
    Graph graph;
    uvec2 ids;        // one vertex per operation
    uvec2 statuses;   // output: one byte per operation
    uvec2 gone;       // output: one bit per vertex that was deleted, or inserted or found
    uvec2 pending;    // counts the operations left pending, because a vertex has no descriptor
    uint count;
    uint extent;      // the graph's extent before this dispatch
    uint retry;       // 1: does only operations whose status is STATUS_PENDING
};

void main() {
    uint i = invocation_index();
    bool todo = i < count;
    uint before = STATUS_PENDING;
    if (todo && retry != 0u) before = byte_load(statuses, i);
    todo = todo && before == STATUS_PENDING;
    uint id = 0u;
    if (todo) id = plain_load_at(ids, i);
    bool there = todo && id < graph.capacity;
    uvec2 state = address_add(graph_vertex_at(graph, id), GRAPH_STATE_AT);
    uint status = STATUS_PENDING, change = 0u;
    if (DELETES != 0u) {
        status = STATUS_ABSENT;
        if (there && id < extent && (atomic_or(state, GRAPH_DELETED) & GRAPH_DELETED) == 0u) {
            status = STATUS_DELETED;
            change = 1u;
            atomic_or(address_at(gone, id >> 5, 2u), 1u << (id & 31u));
        }
    } else {
        uint most = subgroupMax(todo ? id + 1u : 0u);
        bool fits = most <= graph.capacity;
        if (most > extent && subgroupElect())
            graph_raise(address_add(graph.counters, fits ? GRAPH_EXTENT_AT : GRAPH_WANTED_AT), most);
        if (there && fits) {
            // Vertices beyond the old extent were never deleted. The bitmap tells the first operation on a vertex from
            // others on the same one.
            uint bit = 1u << (id & 31u);
            bool named = (atomic_or(address_at(gone, id >> 5, 2u), bit) & bit) != 0u;
            bool back = (atomic_and(state, ~GRAPH_DELETED) & GRAPH_DELETED) != 0u;
            status = !named && (back || id >= extent) ? STATUS_INSERTED : STATUS_FOUND;
            change = back ? 1u : 0u;
        }
    }
    change = subgroupAdd(change);
    if (change != 0u && subgroupElect())
        atomic_add(address_add(graph.counters, GRAPH_DELETED_AT), DELETES != 0u ? change : 0u - change);
    byte_store(statuses, i, count, todo ? status : before);
    uint left = subgroupBallotBitCount(subgroupBallot(todo && status == STATUS_PENDING));
    if (left != 0u && subgroupElect()) atomic_add(pending, left);
}
