// B-link-tree, batched updates: common code of the kernels of a batch. Nothing else uses the tree at the same time, so
// there are no latches. Only one invocation changes a node, or writes one of the nodes that replace it.
//
// Kernels for leaves define BATCH_LEAVES as 1 before these headers, and those for inner nodes as 0.
//
// A batch goes through the tree level by level, from the leaves up. At the leaves its elements are the operations in
// key order. At an inner level they are the new nodes of the level below, as (low, child). A segment is the elements
// for one node. One invocation does a segment: it changes the node in place if the result fits into it. Otherwise it
// writes a record, and a later kernel divides the result among as many nodes as needed, the outputs. The first output
// is the node itself. One invocation does a record. If the segment is long, one invocation does each output, so that
// one huge segment costs no more than many small ones. The new nodes are the batch of the next level.
//
// The root is always the same slab. When it splits, all of its outputs are new nodes. The root becomes an empty node
// one level up, into which the outputs are inserted like other new nodes.
#ifndef VKDS_BTREE_BATCH_GLSL
#define VKDS_BTREE_BATCH_GLSL

#include "btree_node.glsl"
#include "btree_prefix_index.glsl"
#include "operation.glsl"

layout(constant_id = 16) const uint BATCH_GROUP = 128;   // elements per workgroup
layout(constant_id = 17) const uint SHARED = 0;          // 1: the pool has other users

// The elements of a batch: the operations in key order, and with equal keys in the order of the batch; or, at an inner
// level, the new nodes of the level below.
struct Batch {
    uvec2 keys;      // keys, or the lows of nodes
    uvec2 payload;   // values, or with `indexed` the operations' indices in the batch; or nodes
    uvec2 values;    // in the order of the batch
    uvec2 kinds;     // bytes, in the order of the batch; for OP_MIXED only
    uvec2 marks;     // see batch_marks.glsl
    uint count;      // the number of elements, or an upper bound of it, which determines the layout of all memory
    uint kind;       // OP_INSERT, OP_INSERT_UNIQUE, OP_DELETE or OP_MIXED
    uint indexed;    // 1: payload has source indices
    uint split;      // the least number of pairs of a node when nodes are split: 7 to 14
};

// A batch as it is in push constants: packed, because a tree and its work are there, too.
struct PushedBatch {
    uvec2 keys;
    uvec2 payload;
    uvec2 values;
    uvec2 kinds;
    uvec2 marks;
    uint count;
    uint how;   // bits 0 to 7: kind; 8: indexed; 9: only the device knows the number of operations; from 16 on: split
};

Batch batch_taken(PushedBatch p) {
    return Batch(p.keys, p.payload, p.values, p.kinds, p.marks, p.count, p.how & 0xffu, p.how >> 8 & 1u, p.how >> 16);
}

// The number of operations. If only the device knows it, it is in a word after the room for the keys. Elements after
// the last operation get no leaf when leaves are located, so later kernels need not know the number.
uint batch_count(PushedBatch p) {
    if ((p.how >> 9 & 1u) == 0u) return p.count;
    return min(plain_load_near(p.keys, VKDS_WORDS(p.count)), p.count);
}

// The memory of a batch. Each level has its own control words; the rest is reused by the next level.
struct Work {
    uvec2 at;
    uint capacity;   // the greatest number of elements of a level, a multiple of 64
    uint level;      // 0: the leaves
    uint index_bits;   // of the prefix index that is before this memory; 0: there is none
    uint group;      // elements of the level per workgroup
};

const uint BATCH_OUTPUTS_AT = 0u;    // byte offsets in a level's control words: new nodes of the level
const uint BATCH_SEGMENTS_AT = 4u;   // records
const uint BATCH_TAKEN_AT = 8u;      // new nodes of the levels below
const uint BATCH_ROOT_AT = 12u;      // 1 if the root was split
const uint BATCH_OUTPUTS_ARGS_AT = 16u;  // workgroups for the next level (x, y, z)
const uint BATCH_SPLIT_ARGS_AT = 28u;    // workgroups for the records (x, y, z)
const uint BATCH_LONG_AT = 40u;      // 1 if any record is of a long segment
const uint BATCH_LEVEL_SHIFT = 6u;
const uint BATCH_FAILED_AT = 1024u;  // for all levels: 1 if the pool had too few free slabs for the leaves
const uint BATCH_CONTROL = 2048u;    // bytes of the control words of all levels

uvec2 batch_control(Work w, uint level, uint at) { return address_add(w.at, (level << BATCH_LEVEL_SHIFT) + at); }

// Memory that one kernel writes and a later one reads. In the kernel that does all levels, other invocations of the
// workgroup read it. It has at most 2^22 elements (maxBatch in Go), so loads and stores …_near can be used.
#ifdef BATCH_ALONE
uint work_load(uvec2 at, uint i) { return VkdsCoherentWord(address_at(at, i, 2u)).v; }
void work_store(uvec2 at, uint i, uint v) { VkdsCoherentWord(address_at(at, i, 2u)).v = v; }
uvec2 work_load2(uvec2 at, uint i) { return VkdsCoherentPair(address_at(at, i, 3u)).v; }
void work_store2(uvec2 at, uint i, uvec2 v) { VkdsCoherentPair(address_at(at, i, 3u)).v = v; }
uvec4 work_load4(uvec2 at, uint i) { return VkdsCoherentQuad(address_at(at, i, 4u)).v; }
void work_store4(uvec2 at, uint i, uvec4 v) { VkdsCoherentQuad(address_at(at, i, 4u)).v = v; }
#else
uint work_load(uvec2 at, uint i) { return plain_load_near(at, i); }
void work_store(uvec2 at, uint i, uint v) { plain_store_near(at, i, v); }
uvec2 work_load2(uvec2 at, uint i) { return plain_load2(address_at(at, i, 3u)); }
void work_store2(uvec2 at, uint i, uvec2 v) { plain_store2(address_at(at, i, 3u), v); }
uvec4 work_load4(uvec2 at, uint i) { return plain_load4(address_at(at, i, 4u)); }
void work_store4(uvec2 at, uint i, uvec4 v) { plain_store4(address_at(at, i, 4u), v); }
#endif

#if VKDS_WIDE
#define work_load_key(at, i) work_load2(at, i)
#define work_store_key(at, i, key) work_store2(at, i, key)
#else
#define work_load_key(at, i) work_load(at, i)
#define work_store_key(at, i, key) work_store(at, i, key)
#endif

const uint BATCH_WALK = 32u;   // the greatest number of operations that one invocation does; longer segments are long

// The address of a part of the memory, which begins after the given number of bytes per element.
uvec2 batch_part(Work w, uint bytes) { return address_add(w.at, BATCH_CONTROL + w.capacity * bytes); }

// Records, at the places of the elements of their groups. A record is a node, the end of its segment, the number of
// resulting pairs, and a word with the mask of the node's slots that stay and the segment's beginning in its group.
uvec2 batch_records(Work w) { return address_add(w.at, BATCH_CONTROL); }
// For each record, the number of new nodes of its group's earlier records.
uvec2 batch_offsets(Work w) { return batch_part(w, 16u); }
// The new nodes of a level: their lows, and then their slabs. Even and odd levels have separate memory.
#if VKDS_WIDE
const uint BATCH_LEVEL_BYTES = 12u;
#else
const uint BATCH_LEVEL_BYTES = 8u;
#endif
uvec2 batch_lows(Work w, uint level) { return batch_part(w, 20u + (level & 1u) * BATCH_LEVEL_BYTES); }
uvec2 batch_children(Work w, uint level) {
    return batch_part(w, (16u + BATCH_LEVEL_BYTES) + (level & 1u) * BATCH_LEVEL_BYTES);
}
// Two words per group: its numbers of new nodes and of records; later the sums of both over earlier groups.
uvec2 batch_groups(Work w) { return batch_part(w, 24u + 2u * BATCH_LEVEL_BYTES); }
// The old contents of the node of a long segment. Several invocations read it, while one of them overwrites the node.
uvec2 batch_former(Work w, uint begin) {
    return address_at(batch_part(w, 20u + 2u * BATCH_LEVEL_BYTES), begin / BATCH_WALK, NODE_SHIFT);
}

// The batch of an inner level.
Batch batch_above(Work w, uint split) {
    Batch b;
    b.keys = batch_lows(w, w.level - 1u);
    b.payload = batch_children(w, w.level - 1u);
    b.values = b.kinds = b.marks = uvec2(0u);
    b.count = min(work_load(batch_control(w, w.level - 1u, BATCH_OUTPUTS_AT), 0u), w.capacity);
    b.kind = OP_INSERT;
    b.indexed = 0u;
    b.split = split;
    return b;
}

K batch_key(Batch b, uint i) { return work_load_key(b.keys, i); }

// The number of nodes for n pairs: one if they fit. So a batch makes no more nodes than its insertions need, and
// deletions don't change the levels above. If there are several nodes, each gets at least `split` pairs.
uint batch_nodes(Batch b, uint n) {
    return n <= BTREE_SLOTS ? 1u : max((n + BTREE_SLOTS - 1u) / BTREE_SLOTS, n / b.split);
}

// The index of the first pair of output j: the outputs share n pairs evenly.
uint batch_first(uint n, uint nodes, uint j) { return j * (n / nodes) + min(j, n % nodes); }

const uint BATCH_ROUNDS = 1u << 16;   // the greatest number of nodes that a search visits

// The start of the search for a key down to a level: the entry of the work's prefix index, or the root.
BTreePlace batch_start(BTree tree, Work w, uint level, K key) {
    BTreePlace place = BTreePlace(tree.root, 0u);
    bool high = false;
    if (w.index_bits != 0u) {
        uint bytes = VKDS_PREFIX_SIZE(w.index_bits);
        place = btree_prefix_start(
            BTreePrefixIndex(uvec2(w.at.x - bytes, w.at.y - (w.at.x < bytes ? 1u : 0u)), w.index_bits), key);
        high = place.level >= level;
    }
    if (!high)
        place = BTreePlace(tree.root,
                           btree_level(plain_load(address_add(slab_address(tree.pool, tree.root), BTREE_META_AT))));
    return place;
}

// The child of an inner node for a key that is not below the node's low.
uint batch_child(uvec2 node, K key) {
    uint child = SLAB_NULL;
    [[unroll]] for (uint q = 0u; q < BTREE_SLOTS / VKDS_QUAD_SLOTS; q++) {
        uvec4 v = plain_load4(address_add(node, q * 16u));
#if VKDS_WIDE
        child = q == 0u || VKDS_UP_TO(v.VKDS_KEY, key) ? v.VKDS_CHILD : child;
#else
        child = q == 0u || v.x <= key ? v.y : child;
        child = v.z <= key ? v.w : child;
#endif
    }
    return child;
}

// The same, for nodes that neighbouring lanes read, too: it is faster to read fewer words per lane.
uint batch_child_stepwise(uvec2 node, K key) {
    uint slot = 0u;
    [[unroll]] for (uint step = 8u; step != 0u; step >>= 1) {
        uint next = min(slot + step, BTREE_SLOTS - 1u);
        slot = VKDS_UP_TO(VKDS_LOAD_NEAR(node, 2u * next), key) ? next : slot;
    }
    return VKDS_REFERENCE(VKDS_LOAD_NEAR(node, 2u * slot + 1u));
}

// The node of a level whose range has the key, and its header. SLAB_NULL if it is not found.
uint batch_find(BTree tree, Work w, uint level, K key, bool enabled, out NodeHeader header) {
    BTreePlace place = batch_start(tree, w, level, key);
    header = NodeHeader(0u, K(0u), K(0u), 0u);
    bool busy = enabled;
    for (uint round = 0u; busy && round < BATCH_ROUNDS; round++) {
        uvec2 at = slab_address(tree.pool, place.node);
        bool inner = place.level > level;
        VKDS_HEADER f = VKDS_HEADER_LOAD(plain_load4, at);
        uint child = SLAB_NULL;
        if (inner) child = batch_child(at, key);
        header = VKDS_HEADER_OF(f);
        if (VKDS_ABOVE(key, f.VKDS_HIGH)) {
            place.node = f.VKDS_LINK;
        } else if (inner) {
            place.node = child;
            place.level--;
        } else {
            busy = false;
        }
    }
    return busy ? SLAB_NULL : place.node;
}

// The leaf whose range has the key. If all nodes have parents, the leaf itself need not be read.
uint batch_leaf(BTree tree, Work w, K key, bool enabled) {
    uint orphans = plain_load(address_add(tree.state, BTREE_ORPHANS_AT));
    BTreePlace place = batch_start(tree, w, 0u, key);
    if (orphans != 0u) {
        NodeHeader header;
        return batch_find(tree, w, 0u, key, enabled, header);
    }
    while (enabled && place.level != 0u) {
        place.node = batch_child_stepwise(slab_address(tree.pool, place.node), key);
        place.level--;
    }
    return place.node;
}

#endif
