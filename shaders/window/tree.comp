// Lists the nodes of a row of a tree's scene: the children of the nodes of the row above, from left to right along the
// side links, so that nodes without a parent are among them. A first dispatch counts each node's children, and a second
// one (WRITE) writes their cells. The row of the root has no row above.
//
// A node that is not one level below its parent ends the walk over its siblings, as does the end of the parent's range.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_node.glsl"
#include "invocation.glsl"
#include "scene.glsl"

layout(constant_id = 16) const uint WRITE = 0;

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 parents;   // cells; 0: there are none, and the root is listed
    uvec2 firsts;    // a word per parent. Output: how many children it has. With WRITE, input: the index of its first
    uvec2 cells;     // output, with WRITE: the children
    uvec2 fills;     // the same: a word per child, the slots in use
    uvec2 before;    // the scene before the last step; 0: there is none
    uint count;      // of the parents
};

const uint MOST = 1u << 12;   // children of a node; 14 but for those that it doesn't know yet

NodeHeader header_of(uvec2 node) {
    VKDS_HEADER h = VKDS_HEADER_LOAD(plain_load4, node);
    return VKDS_HEADER_OF(h);
}

// Whether the tree had a pair before the last step.
bool was_there(P pair) {
    Row leaves = scene_row(before, scene_word(before, SCENE_ROWS) - 1u);
    uint begin = 0u, end = leaves.count;   // the last leaf whose low is up to the key is in begin … end-1
    while (end - begin > 1u) {
        uint middle = begin + ((end - begin) >> 1);
        if (VKDS_UP_TO(header_of(scene_cell(leaves.cells, middle).node).low, pair.VKDS_KEY)) begin = middle;
        else end = middle;
    }
    Cell cell = scene_cell(leaves.cells, begin);
    for (uint s = 0u; s < BTREE_SLOTS; s++)
        if ((cell.live >> s & 1u) != 0u && VKDS_SLOT_LOAD(btree_slot(cell.node, s)) == pair) return true;
    return false;
}

void list(uint at, uvec2 node, NodeHeader header, bool orphan) {
    Cell cell = Cell(node, 0u, 0u, 0u, (orphan ? CELL_ORPHAN : 0u) | (btree_latched(header.meta) ? CELL_LATCHED : 0u));
    P last = VKDS_SLOT_LOAD(btree_slot(node, 0u));
    bool unused = false;   // of an inner node: unused slots repeat the last one
    for (uint s = 0u; s < BTREE_SLOTS; s++) {
        P slot = VKDS_SLOT_LOAD(btree_slot(node, s));
        if (btree_level(header.meta) != 0u) {
            unused = unused || (s != 0u && slot == last);
            if (!unused) cell.live |= 1u << s;
        } else if (btree_live(slot.VKDS_KEY, header.high)) {
            cell.live |= 1u << s;
            if (before != uvec2(0u) && !was_there(slot)) cell.fresh |= 1u << s;
        } else if (slot.VKDS_VALUE == V(BTREE_ERASED)) {
            cell.gone |= 1u << s;
        }
        last = slot;
    }
    scene_store(cells, at, cell);
    plain_store_at(fills, at, uint(bitCount(cell.live)));
}

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    if (parents == uvec2(0u)) {
        uvec2 root = slab_address(tree.pool, tree.root);
        list(0u, root, header_of(root), false);
        return;
    }
    uvec2 parent = scene_cell(parents, i).node;
    NodeHeader above = header_of(parent);
    uint child = VKDS_REFERENCE(VKDS_SLOT_LOAD(parent).VKDS_VALUE), slot = 0u, found = 0u;
    uint at = WRITE != 0u ? plain_load_at(firsts, i) : 0u;
    while (found < MOST && pool_has(tree.pool, child)) {
        uvec2 node = slab_address(tree.pool, child);
        NodeHeader header = header_of(node);
        if (btree_level(header.meta) + 1u != btree_level(above.meta)) break;
        bool known = slot < BTREE_SLOTS && VKDS_REFERENCE(VKDS_SLOT_LOAD(btree_slot(parent, slot)).VKDS_VALUE) == child;
        if (known) slot++;
        if (WRITE != 0u) list(at + found, node, header, !known);
        found++;
        if (!VKDS_BELOW(header.high, above.high)) break;
        child = header.link;
    }
    if (WRITE == 0u) plain_store_at(firsts, i, found);
}
