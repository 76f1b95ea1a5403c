// Draws a hash table: its buckets in lines, from left to right, and the slabs of each bucket from top to bottom. The
// scene's unit is the height of a slab; a slot is three units wide. By the room that there is, a bucket is drawn with
// its slots, or as one cell in the colour of its load, or together with its neighbours in the colour of their mean.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "picture.glsl"

const float SLOT_UNITS = 3.0;

vec3 slot_of(Row slabs, uint bucket, uint slab, uint s, vec2 p, vec2 box) {
    Cell cell = scene_cell(slabs.cells, slab);
    if ((cell.gone >> s & 1u) != 0u) return colour(GONE);
    if ((cell.live >> s & 1u) == 0u) return colour(ROOM);
    uint kind = (cell.fresh >> s & 1u) != 0u ? FRESH : LEAF;
    if (box.x <= 12.0) return colour(kind);
    uint formats = scene_word(scene, SCENE_FORMATS), mask = scene_word(scene, SCENE_MASK);
    P pair = VKDS_SLOT_LOAD(address_add(cell.node, s * VKDS_SLOT_BYTES));
    K key = pair.VKDS_KEY;
    uint group = bucket >> (formats >> 16);
    if (group == scene_word(scene, SCENE_ONES) || group == scene_word(scene, SCENE_ZERO)) key ^= mask;
    bool ink = text_in_box(text_of(WORDS(key), formats & 255u), 0, p, box)
        || text_in_box(text_of(WORDS(pair.VKDS_VALUE), formats >> 8 & 255u), 1, p, box);
    return colour(ink ? PAPER : kind);
}

vec3 picture(ivec2 pixel) {
    vec2 at = rest + (vec2(pixel) + 0.5) * scale, near = fract(at);
    ivec2 whole = origin + ivec2(clamp(floor(at), -1e9, 1e9));
    uint columns = scene_word(scene, SCENE_COLUMNS), slots = scene_word(scene, SCENE_SLOTS);
    int wide = int(SLOT_UNITS) * int(slots) + 3, high = int(scene_word(scene, SCENE_LONGEST)) + 1;   // of a bucket
    if (whole.x < 0 || whole.y < 0 || whole.x >= wide * int(columns)) return colour(PAPER);
    uvec2 place = uvec2(whole.x / wide, whole.y / high);
    Row buckets = scene_row(scene, 0u), slabs = scene_row(scene, 1u);
    if (place.y > buckets.count / columns) return colour(PAPER);
    uint bucket = place.y * columns + place.x;
    if (bucket >= buckets.count) return colour(PAPER);
    vec2 p = vec2(whole - ivec2(place) * ivec2(wide, high)) + near;   // in the bucket, in units
    float unit = 1.0 / scale.x;                                       // in pixels
    vec2 all = vec2(wide, high) * unit;

    if (all.x < 3.0) {
        // The buckets of this line that share a column of pixels.
        float edge = float(origin.x) + rest.x + float(pixel.x + 1) * scale.x;
        uint last = min(uint(clamp(edge / float(wide), 0.0, float(columns - 1u))),
                        buckets.count - 1u - place.y * columns);
        float from = float(origin.x) + rest.x + float(pixel.x) * scale.x;
        uint first = min(uint(clamp(from / float(wide), 0.0, float(columns - 1u))), last);
        uint a = place.y * columns + first, b = place.y * columns + max(last, first + 1u);
        b = min(b, buckets.count);
        uint used = plain_load_at(slabs.sums, plain_load_at(buckets.firsts, b))
            - plain_load_at(slabs.sums, plain_load_at(buckets.firsts, a));
        return heat(float(used) / (float(max(b - a, 1u)) * float(slots)), LEAF);
    }
    uint first = plain_load_at(buckets.firsts, bucket), end = plain_load_at(buckets.firsts, bucket + 1u);
    if (unit < 1.0) {
        vec2 gap = vec2(1.0, all.y < 3.0 ? 0.0 : 1.0);
        if (any(greaterThanEqual(p * unit, all - gap))) return colour(PAPER);
        uint used = plain_load_at(slabs.sums, end) - plain_load_at(slabs.sums, first);
        return heat(float(used) / float(slots), LEAF);
    }
    uint slab = uint(p.y), s = uint(p.x / SLOT_UNITS);
    if (slab >= end - first || s >= slots) return colour(PAPER);
    vec2 inside = (p - vec2(float(s) * SLOT_UNITS, float(slab))) * unit;
    vec2 box = vec2(SLOT_UNITS, 1.0) * unit - vec2(1.0, unit < 3.0 ? 0.0 : 1.0);
    if (any(greaterThanEqual(inside, box))) return colour(PAPER);
    return slot_of(slabs, bucket, first + slab, s, inside, box);
}

void main() {
    ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (all(lessThan(pixel, size))) paint(pixel, picture(pixel));
}
