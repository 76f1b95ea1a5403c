// Draws a tree: a level is a row from left to right, and a node is as wide as all leaves below it. The scene's unit is
// a leaf in x and a level in y. By the room that there is, a node is drawn with its slots or children, as a bar that
// shows its fill, or together with its neighbours as the mean of their fills.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_node.glsl"
#include "picture.glsl"

// The index of the node of a row that has a leaf below it.
uint node_over(Row row, uint leaf) {
    uint begin = 0u, end = row.count;   // the last one that starts up to the leaf is in begin … end-1
    while (end - begin > 1u) {
        uint middle = begin + ((end - begin) >> 1);
        if (plain_load_at(row.starts, middle) <= leaf) begin = middle;
        else end = middle;
    }
    return begin;
}

// The leaves up to which a row's node goes.
uint node_end(Row row, uint i, uint leaves) { return i + 1u < row.count ? plain_load_at(row.starts, i + 1u) : leaves; }

// The position in the window at which a leaf begins, in pixels.
float left_of(uint leaf) { return (float(int(leaf) - origin.x) - rest.x) / scale.x; }

uint leaf_at(float x, uint leaves) {
    return uint(clamp(float(origin.x) + floor(rest.x + x * scale.x), 0.0, float(leaves - 1u)));
}

// The mean fill of the nodes that share a column of pixels.
float mean_fill(Row row, int x, uint leaves, uint slots) {
    uint a = node_over(row, leaf_at(float(x), leaves)), b = node_over(row, leaf_at(float(x + 1), leaves));
    b = max(b, a + 1u);
    return float(plain_load_at(row.sums, b) - plain_load_at(row.sums, a)) / (float(b - a) * float(slots));
}

vec3 bar(float fill, float y, float height, uint kind) { return colour(y >= height * (1.0 - fill) ? kind : ROOM); }

vec3 leaf_slots(Cell cell, vec2 p, vec2 box, uint slots, uint formats) {
    float wide = box.x / float(slots);
    uint s = min(uint(p.x / wide), slots - 1u);
    float x = p.x - float(s) * wide;
    if (x >= wide - 1.0) return colour(PAPER);
    if ((cell.gone >> s & 1u) != 0u) return colour(GONE);
    if ((cell.live >> s & 1u) == 0u) return colour(ROOM);
    P pair = VKDS_SLOT_LOAD(btree_slot(cell.node, s));
    vec2 inside = vec2(x, p.y), slot = vec2(wide, box.y);
    bool ink = wide > 12.0 && (text_in_box(text_of(WORDS(pair.VKDS_KEY), formats & 255u), 0, inside, slot)
        || text_in_box(text_of(WORDS(pair.VKDS_VALUE), formats >> 8 & 255u), 1, inside, slot));
    return colour(ink ? PAPER : (cell.fresh >> s & 1u) != 0u ? FRESH : LEAF);
}

vec3 picture(ivec2 pixel) {
    vec2 at = rest + (vec2(pixel) + 0.5) * scale;
    uint rows = scene_word(scene, SCENE_ROWS), slots = scene_word(scene, SCENE_SLOTS);
    uint formats = scene_word(scene, SCENE_FORMATS);
    uint leaves = scene_row(scene, rows - 1u).count;
    ivec2 whole = origin + ivec2(clamp(floor(at), -1e9, 1e9));
    if (whole.x < 0 || whole.x >= int(leaves) || whole.y < 0 || whole.y >= int(rows)) return colour(PAPER);
    float level = 1.0 / scale.y, height = 0.76 * level, y = fract(at.y) * level - 0.12 * level;
    if (y < 0.0 || y >= height) return colour(PAPER);

    Row row = scene_row(scene, uint(whole.y));
    bool leaf = uint(whole.y) == rows - 1u;
    uint i = leaf ? uint(whole.x) : node_over(row, uint(whole.x));
    uint begin = leaf ? i : plain_load_at(row.starts, i);
    // Positions are exact near the window. So a node's right edge is not computed from its left one, which may be far.
    float left = left_of(begin), right = left_of(leaf ? i + 1u : node_end(row, i, leaves)), wide = right - left;
    float x = float(pixel.x) + 0.5;
    uint kind = leaf ? LEAF : INNER;
    if (wide < 3.0) return bar(mean_fill(row, pixel.x, leaves, slots), y, height, kind);

    Cell cell = scene_cell(row.cells, i);
    float fill = float(bitCount(cell.live)) / float(slots), gap = clamp(0.04 * wide, 1.0, 6.0);
    if (x >= right - gap) return colour(PAPER);
    if ((cell.flags & CELL_LATCHED) != 0u && y < 3.0) return colour(LATCHED);
    if ((cell.flags & CELL_ORPHAN) != 0u && y < 3.0) return colour(ORPHAN);
    if (leaf) {
        bool slots_fit = wide - gap >= 3.0 * float(slots);
        if (!slots_fit && cell.fresh != 0u && y < 3.0) return colour(FRESH);
        if (!slots_fit) return bar(fill, y, height, kind);
        return leaf_slots(cell, vec2(x - left, y), vec2(wide - gap, height), slots, formats);
    }

    // An inner node's children are as wide as they are in the row below.
    Row below = scene_row(scene, uint(whole.y) + 1u);
    bool over_leaves = uint(whole.y) + 2u == rows;
    uint c = over_leaves ? uint(whole.x) : node_over(below, uint(whole.x));
    float from = left_of(over_leaves ? c : plain_load_at(below.starts, c));
    float to = min(left_of(over_leaves ? c + 1u : node_end(below, c, leaves)), right - gap);
    if (to - from < 4.0) return bar(fill, y, height, kind);
    if (x >= to - 1.0) return colour(PAPER);
    Cell child = scene_cell(below.cells, c);
    if ((child.flags & CELL_ORPHAN) != 0u) return colour(ORPHAN);
    float seen = max(from, 0.0);   // the text stays in the window
    VKDS_HEADER header = VKDS_HEADER_LOAD(plain_load4, child.node);
    bool ink = to - seen > 12.0 && text_in_box(text_of(WORDS(header.VKDS_LOW), formats & 255u), 0,
                                               vec2(x - seen, y), vec2(to - seen, height));
    return ink ? colour(PAPER) : heat(fill, INNER);
}

void main() {
    ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (all(lessThan(pixel, size))) paint(pixel, picture(pixel));
}
