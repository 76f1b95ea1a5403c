// Scene: what a window shows of a structure, in device memory. Its rows are the levels of a tree from the root down, or
// the buckets of a hash table and then their slabs. Each row has cells, in the order in which they are shown. A cell is
// a node with the state of its slots.
#ifndef VKDS_WINDOW_SCENE_GLSL
#define VKDS_WINDOW_SCENE_GLSL

#include "memory.glsl"

struct Row {
    uvec2 cells;    // four words each, below
    uvec2 firsts;   // a word for each cell, and one more: the index of its first child in the next row
    uvec2 starts;   // of a tree, a word for each cell: the index of the first leaf below it
    uvec2 sums;     // a word for each cell, and one more: the slots in use of all cells before it
    uint count;     // cells
};

const uint SCENE_ROWS_AT = 32u;   // byte offset of the rows; before them are eight words, SCENE_…
const uint SCENE_ROWS = 0u;
const uint SCENE_SLOTS = 1u;      // of a node
const uint SCENE_COLUMNS = 2u;    // of a table: buckets side by side,
const uint SCENE_LONGEST = 3u;    // the slabs of the longest bucket,
const uint SCENE_MASK = 4u;       // and what the keys of two buckets are xored with (SlabHash)
const uint SCENE_ONES = 5u;
const uint SCENE_ZERO = 6u;
const uint SCENE_FORMATS = 7u;    // how keys and, 8 bits higher, values are written: FORMAT_…
                                  // 16 bits higher: log2 of the buckets of a group, which ONES and ZERO count

const uint FORMAT_UNSIGNED = 0u;
const uint FORMAT_SIGNED32 = 1u;  // the sign bit, of the lower word or of both, is flipped
const uint FORMAT_SIGNED64 = 2u;
const uint FORMAT_HEX = 3u;

uint scene_word(uvec2 scene, uint i) { return plain_load_near(scene, i); }

Row scene_row(uvec2 scene, uint i) {
    uvec2 at = address_add(scene, SCENE_ROWS_AT + 48u * i);
    uvec4 a = plain_load4(at), b = plain_load4(address_add(at, 16u));
    return Row(a.xy, a.zw, b.xy, b.zw, plain_load(address_add(at, 32u)));
}

struct Cell {
    uvec2 node;   // its address
    uint live;    // bits: the slots in use
    uint gone;    // bits: the slots with the remains of a deleted pair
    uint fresh;   // bits: the slots in use whose pair wasn't there before the last step
    uint flags;   // CELL_…
};

const uint CELL_LATCHED = 1u;
const uint CELL_ORPHAN = 2u;   // no parent has it yet

Cell scene_cell(uvec2 cells, uint i) {
    uvec4 c = plain_load4(address_at(cells, i, 4u));
    return Cell(c.xy, c.z & 0xffffu, c.z >> 16, c.w >> 16, c.w & 0xffffu);
}

void scene_store(uvec2 cells, uint i, Cell c) {
    plain_store4(address_at(cells, i, 4u), uvec4(c.node, c.live | c.gone << 16, c.flags | c.fresh << 16));
}

#endif
