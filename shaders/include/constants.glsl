// Constants: the ids of all specialization constants of the public headers, so that no two have the same id.
// vk.KernelOptions sets constants by name. You need ids only if you create pipelines without package vk.
//
// The header that has a constant declares it, with its default, by the id from here. Ids from VKDS_ID_FREE on are for
// kernels: those of vkds and your own.
#ifndef VKDS_CONSTANTS_GLSL
#define VKDS_CONSTANTS_GLSL

#define VKDS_ID_WORKGROUP 0          // invocation.glsl: invocations a workgroup, also its size in x
#define VKDS_ID_TILE 1               // tile.glsl: lanes a tile
#define VKDS_ID_POOL_LIGHT 2         // slab_alloc.glsl: 1 if every pool is one super block
#define VKDS_ID_POOL_SUPER_SHIFT 3   // slab_alloc.glsl: log2 of the memory blocks in a super block
#define VKDS_ID_NODE_PARTS 4         // btree_search.glsl: loads that a node is searched by
#define VKDS_ID_BTREE_TORN 5         // btree_leaf.glsl: 0 where aligned pairs are read whole by one load
#define VKDS_ID_SLAB_TORN 6          // slab_view.glsl: the same of aligned keys and values of 64 bits
#define VKDS_ID_FLOAT_BITS 7         // value.glsl: bits of a float in a word of 64
#define VKDS_ID_SLAB_TAILS 8         // slab_hash.glsl: 1 if insertions of duplicates skip to the end of a long list
#define VKDS_ID_TRACE_LOW 9          // trace.glsl: the address of the buffer for events
#define VKDS_ID_TRACE_HIGH 10
#define VKDS_ID_TRACE_EVENTS 11      // trace.glsl: the events that it has room for
#define VKDS_ID_TRACE_KERNEL 12      // trace.glsl: the number of the kernel
#define VKDS_ID_SLAB_SHARED 13        // slab_shared.glsl: 1 if buckets of a slab hash share slabs
#define VKDS_ID_BTREE_SHARES 14       // btree_node.glsl: 0 if nothing but the tree takes slabs of its pool

#define VKDS_ID_FREE 16

#endif
