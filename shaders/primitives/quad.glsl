// Quad: four words, as which a lane loads and stores an array: four keys of 32 bits, or two of 64.
#ifndef VKDS_QUAD_GLSL
#define VKDS_QUAD_GLSL

#include "key.glsl"

#if VKDS_KEY_BITS == 64

const uint QUAD_KEYS = 2u;

uvec4 quad_of(K key) { return key.xyxy; }
K quad_key(uvec4 quad, uint c) { return c == 0u ? quad.xy : quad.zw; }
K quad_last(uvec4 quad) { return quad.zw; }

// Keys at to n-1 of an array, at most QUAD_KEYS; for those from n on stands `beyond`.
uvec4 quad_load(uvec2 array, uint at, uint n, K beyond) {
    uvec4 quad = quad_of(beyond);
    if (at < n) quad.xy = key_load_at(array, at);
    if (at + 1u < n) quad.zw = key_load_at(array, at + 1u);
    return quad;
}

// Writes them, and nothing from n on.
void quad_store(uvec2 array, uint at, uint n, uvec4 quad) {
    if (at < n) key_store_at(array, at, quad.xy);
    if (at + 1u < n) key_store_at(array, at + 1u, quad.zw);
}

// Sums: of all keys; of each with those before it in the quad; of each with one that is the same for all.
K quad_sum(uvec4 quad) { return number_add(quad.xy, quad.zw); }
uvec4 quad_sums(uvec4 quad) { return uvec4(quad.xy, quad_sum(quad)); }
uvec4 quad_add(uvec4 quad, K key) { return uvec4(number_add(quad.xy, key), number_add(quad.zw, key)); }

// The keys one place further, behind a 0.
uvec4 quad_behind(uvec4 quad) { return uvec4(0u, 0u, quad.xy); }

// A bit a key, from the first one's on: which differ from the key before them, of the first one given; which are less
// than a key; which are equal to it.
uint quad_changes(uvec4 quad, K before) {
    return (number_equal(before, quad.xy) ? 0u : 1u) | (number_equal(quad.xy, quad.zw) ? 0u : 2u);
}
uint quad_less(uvec4 quad, K key) {
    return (number_below(quad.xy, key) ? 1u : 0u) | (number_below(quad.zw, key) ? 2u : 0u);
}
uint quad_equal(uvec4 quad, K key) {
    return (number_equal(quad.xy, key) ? 1u : 0u) | (number_equal(quad.zw, key) ? 2u : 0u);
}

#else

const uint QUAD_KEYS = 4u;

uvec4 quad_of(K key) { return uvec4(key); }
K quad_key(uvec4 quad, uint c) { return c == 0u ? quad.x : c == 1u ? quad.y : c == 2u ? quad.z : quad.w; }
K quad_last(uvec4 quad) { return quad.w; }

uvec4 quad_load(uvec2 array, uint at, uint n, K beyond) {
    uvec4 quad = quad_of(beyond);
    if (at < n) quad.x = key_load_at(array, at);
    if (at + 1u < n) quad.y = key_load_at(array, at + 1u);
    if (at + 2u < n) quad.z = key_load_at(array, at + 2u);
    if (at + 3u < n) quad.w = key_load_at(array, at + 3u);
    return quad;
}

void quad_store(uvec2 array, uint at, uint n, uvec4 quad) {
    if (at < n) key_store_at(array, at, quad.x);
    if (at + 1u < n) key_store_at(array, at + 1u, quad.y);
    if (at + 2u < n) key_store_at(array, at + 2u, quad.z);
    if (at + 3u < n) key_store_at(array, at + 3u, quad.w);
}

K quad_sum(uvec4 quad) { return quad.x + quad.y + quad.z + quad.w; }
uvec4 quad_sums(uvec4 quad) {
    quad.y += quad.x;
    quad.z += quad.y;
    quad.w += quad.z;
    return quad;
}
uvec4 quad_add(uvec4 quad, K key) { return quad + key; }

uvec4 quad_behind(uvec4 quad) { return uvec4(0u, quad.xyz); }

uint quad_bits(bvec4 conditions) {
    uvec4 bits = uvec4(conditions);
    return bits.x | bits.y << 1 | bits.z << 2 | bits.w << 3;
}
uint quad_changes(uvec4 quad, K before) { return quad_bits(notEqual(uvec4(before, quad.xyz), quad)); }
uint quad_less(uvec4 quad, K key) { return quad_bits(lessThan(quad, uvec4(key))); }
uint quad_equal(uvec4 quad, K key) { return quad_bits(equal(quad, uvec4(key))); }

#endif

// A bit for each key of a quad.
const uint QUAD_ALL = (1u << QUAD_KEYS) - 1u;

#endif
