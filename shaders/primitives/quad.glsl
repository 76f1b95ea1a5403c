// Quad: four words that a lane loads or stores at once: four keys of 32 bits, or two of 64.
#ifndef VKDS_QUAD_GLSL
#define VKDS_QUAD_GLSL

#include "key.glsl"

#if VKDS_KEY_BITS == 64

const uint QUAD_KEYS = 2u;

uvec4 quad_of(K key) { return key.xyxy; }
K quad_key(uvec4 quad, uint c) { return c == 0u ? quad.xy : quad.zw; }
#define QUAD_LAST(quad) quad.zw

// Loads keys `at` … n-1 of an array, at most QUAD_KEYS. Keys from n on are `beyond`.
#define QUAD_LOAD(quad, array, at, n, beyond)                       \
    quad = quad_of(beyond);                                         \
    if (at < n) quad.xy = key_load_at(array, at);                   \
    if (at + 1u < n) quad.zw = key_load_at(array, at + 1u)

// Stores the keys of a quad, but none from n on.
#define QUAD_STORE(quad, array, at, n)                              \
    if (at < n) key_store_at(array, at, quad.xy);                   \
    if (at + 1u < n) key_store_at(array, at + 1u, quad.zw)

// Sums: QUAD_SUM of all keys; QUAD_SUM_UP adds to each key those before it; QUAD_ADD adds one number to each key.
#define QUAD_SUM(quad) number_add(quad.xy, quad.zw)
#define QUAD_SUM_UP(quad) quad.zw = QUAD_SUM(quad)
#define QUAD_ADD(quad, key) uvec4(number_add(quad.xy, key), number_add(quad.zw, key))

// The keys moved by one place, after a 0.
#define QUAD_BEHIND(quad) uvec4(0u, 0u, quad.xy)

// One bit per key, from the first one on. quad_changes: whether it differs from the key before it (`before` for the
// first one). quad_less: whether it is less than a key. quad_equal: whether it is equal to a key.
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
#define QUAD_LAST(quad) quad.w

#define QUAD_LOAD(quad, array, at, n, beyond)                                   \
    quad = quad_of(beyond);                                                     \
    if (at < n) quad.x = plain_load(address_at(array, at, 2u));                 \
    if (at + 1u < n) quad.y = plain_load(address_at(array, at + 1u, 2u));       \
    if (at + 2u < n) quad.z = plain_load(address_at(array, at + 2u, 2u));       \
    if (at + 3u < n) quad.w = plain_load(address_at(array, at + 3u, 2u))

#define QUAD_STORE(quad, array, at, n)                                          \
    if (at < n) plain_store(address_at(array, at, 2u), quad.x);                 \
    if (at + 1u < n) plain_store(address_at(array, at + 1u, 2u), quad.y);       \
    if (at + 2u < n) plain_store(address_at(array, at + 2u, 2u), quad.z);       \
    if (at + 3u < n) plain_store(address_at(array, at + 3u, 2u), quad.w)

#define QUAD_SUM(quad) (quad.x + quad.y + quad.z + quad.w)
#define QUAD_SUM_UP(quad) quad.y += quad.x, quad.z += quad.y, quad.w += quad.z
#define QUAD_ADD(quad, key) ((quad) + (key))

#define QUAD_BEHIND(quad) uvec4(0u, quad.xyz)

uint quad_bits(bvec4 conditions) {
    uvec4 bits = uvec4(conditions);
    return bits.x | bits.y << 1 | bits.z << 2 | bits.w << 3;
}
uint quad_changes(uvec4 quad, K before) { return quad_bits(notEqual(uvec4(before, quad.xyz), quad)); }
uint quad_less(uvec4 quad, K key) { return quad_bits(lessThan(quad, uvec4(key))); }
uint quad_equal(uvec4 quad, K key) { return quad_bits(equal(quad, uvec4(key))); }

#endif

// A set bit for each key of a quad.
const uint QUAD_ALL = (1u << QUAD_KEYS) - 1u;

#endif
