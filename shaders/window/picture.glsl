// Picture: the part of a scene that is in the window, pixel by pixel; its colours, which are those of
// internal/tool/draw; and numbers.
#ifndef VKDS_WINDOW_PICTURE_GLSL
#define VKDS_WINDOW_PICTURE_GLSL

#include "width.glsl"
#include "scene.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0) uniform writeonly image2D target;

layout(push_constant, std430) uniform Push {
    uvec2 scene;
    ivec2 origin;   // the point of the scene that is at the window's left top: its whole part,
    vec2 rest;      // and the rest, so that a far point is as exact as a near one
    vec2 scale;     // units of the scene per pixel
    ivec2 size;     // of the window, in pixels
    uint swapped;   // not 0: the target has blue first
};

vec3 colour(uint rgb) { return vec3(rgb >> 16, rgb >> 8 & 255u, rgb & 255u) / 255.0; }

const uint PAPER = 0xffffffu;
const uint ROOM = 0xe6eaefu;      // free
const uint LEAF = 0x3b7dd8u;      // in use
const uint INNER = 0x2a9d77u;     // in use, in an inner node
const uint FRESH = 0x7c3aedu;     // in use since the last step
const uint GONE = 0xd9a441u;      // erased
const uint FULL = 0x14365fu;      // more than one node's slots
const uint LATCHED = 0xc81e1eu;
const uint ORPHAN = 0xc2410cu;

// The colour of a fill: from ROOM for 0 to `kind` for 1, and on to FULL for 2 or more.
vec3 heat(float fill, uint kind) {
    return fill <= 1.0 ? mix(colour(ROOM), colour(kind), fill)
                       : mix(colour(kind), colour(FULL), min(fill - 1.0, 1.0));
}

void paint(ivec2 pixel, vec3 c) {
    imageStore(target, pixel, vec4(swapped != 0u ? c.bgr : c, 1.0));
}

// Characters of 3 by 5 dots, the first row in the upper bits: 0 … 9, a … f, minus.
const uint GLYPHS[17] = uint[](0x7b6fu, 0x2c97u, 0x73e7u, 0x73cfu, 0x5bc9u, 0x79cfu, 0x79efu, 0x7249u, 0x7befu, 0x7bcfu,
                               0x7bedu, 0x6baeu, 0x7927u, 0x6b6eu, 0x79e7u, 0x79e4u, 0x01c0u);
const uint MINUS = 16u;
const int DOT = 2;                // pixels of a dot's side
const int ADVANCE = 4 * DOT;      // from one character to the next
const int TEXT_HEIGHT = 5 * DOT;

// Divides n by 10, and returns the remainder.
uint next_digit(inout uvec2 n) {
    uint high = n.y / 10u, rest = n.y - high * 10u;
    uint upper = rest << 16 | n.x >> 16;
    uint lower = (upper % 10u) << 16 | (n.x & 0xffffu);
    n = uvec2((upper / 10u) << 16 | lower / 10u, high);
    return lower % 10u;
}

#if VKDS_WIDE
#define WORDS(x) x
#else
#define WORDS(x) uvec2(x, 0u)
#endif

// A number as it is written.
struct Text {
    uvec2 n;         // without its sign
    bool minus;
    bool hex;
    uint characters;
};

Text text_of(uvec2 n, uint format) {
    Text t = Text(n, false, format == FORMAT_HEX, 0u);
    if (format == FORMAT_SIGNED32 || format == FORMAT_SIGNED64) {
        uint upper = format == FORMAT_SIGNED32 ? 0u : 1u;
        n[upper] ^= 1u << 31;
        t.minus = n[upper] >> 31 != 0u;
        if (t.minus) n = uvec2(~n.x + 1u, upper == 0u ? 0u : ~n.y + (n.x == 0u ? 1u : 0u));
        t.n = n;
    }
    uvec2 left = t.n;
    for (uint i = 0u; i < 20u && (i == 0u || left != uvec2(0u)); i++) {
        if (t.hex) left = uvec2(left.x >> 4 | left.y << 28, left.y >> 4);
        else next_digit(left);
        t.characters++;
    }
    t.characters += t.minus ? 1u : 0u;
    return t;
}

int text_width(Text t) { return ADVANCE * int(t.characters) - DOT; }

// Whether a dot of the text covers a point, in pixels from the text's left top.
bool text_at(Text t, ivec2 p) {
    if (p.x < 0 || p.y < 0 || p.y >= TEXT_HEIGHT || p.x >= text_width(t)) return false;
    uint character = uint(p.x / ADVANCE), x = uint(p.x % ADVANCE / DOT), y = uint(p.y / DOT);
    if (x == 3u) return false;
    uint glyph = MINUS;
    if (!t.minus || character != 0u) {
        uvec2 left = t.n;
        for (uint i = t.characters - character; i != 0u; i--) {
            if (t.hex) {
                glyph = left.x & 15u;
                left = uvec2(left.x >> 4 | left.y << 28, left.y >> 4);
            } else {
                glyph = next_digit(left);
            }
        }
    }
    return (GLYPHS[glyph] >> (14u - 3u * y - x) & 1u) != 0u;
}

const int TEXT_LEFT = 3;   // of a box, from its left
const int TEXT_TOP = 4;

// Whether a box of that size has room for a text in its line 0 or 1, and the text covers a point of the box.
bool text_in_box(Text t, int line, vec2 p, vec2 box) {
    ivec2 at = ivec2(TEXT_LEFT, TEXT_TOP + line * (TEXT_HEIGHT + TEXT_TOP));
    if (float(at.x + text_width(t) + TEXT_LEFT) > box.x || float(at.y + TEXT_HEIGHT + 2) > box.y) return false;
    return text_at(t, ivec2(floor(p)) - at);
}

#endif
