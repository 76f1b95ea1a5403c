// Key: the types of keys and values, and their loads and stores.
//
// Define VKDS_KEY_BITS and VKDS_VALUE_BITS as 32, the default of both, or 64. K is the type of a key, and V of a value:
// uint, or uvec2 with the low word first. number.glsl has arithmetic for both. In memory both must be aligned to their
// size.
#ifndef VKDS_KEY_GLSL
#define VKDS_KEY_GLSL

#include "width.glsl"
#include "number.glsl"

#if VKDS_KEY_BITS == 64
const uint KEY_SHIFT = 3u;   // log2 of a key's bytes, for address_at
K key_of(uint number) { return K(number, 0u); }
K key_load(uvec2 a) { return plain_load2(a); }
K key_load_near(uvec2 base, uint index) { return plain_load2_near(base, index); }
void key_store(uvec2 a, K key) { plain_store2(a, key); }
void key_store_near(uvec2 base, uint index, K key) { plain_store2_near(base, index, key); }
#else
const uint KEY_SHIFT = 2u;
K key_of(uint number) { return number; }
K key_load(uvec2 a) { return plain_load(a); }
K key_load_near(uvec2 base, uint index) { return plain_load_near(base, index); }
void key_store(uvec2 a, K key) { plain_store(a, key); }
void key_store_near(uvec2 base, uint index, K key) { plain_store_near(base, index, key); }
#endif

#if VKDS_VALUE_BITS == 64
const uint VALUE_SHIFT = 3u;
V value_load(uvec2 a) { return plain_load2(a); }
V value_load_near(uvec2 base, uint index) { return plain_load2_near(base, index); }
void value_store(uvec2 a, V value) { plain_store2(a, value); }
void value_store_near(uvec2 base, uint index, V value) { plain_store2_near(base, index, value); }
#else
const uint VALUE_SHIFT = 2u;
V value_load(uvec2 a) { return plain_load(a); }
V value_load_near(uvec2 base, uint index) { return plain_load_near(base, index); }
void value_store(uvec2 a, V value) { plain_store(a, value); }
void value_store_near(uvec2 base, uint index, V value) { plain_store_near(base, index, value); }
#endif

// Key or value `index` of an array, for any 32-bit index. The functions …_near take fewer instructions (memory.glsl).
K key_load_at(uvec2 base, uint index) { return key_load(address_at(base, index, KEY_SHIFT)); }
void key_store_at(uvec2 base, uint index, K key) { key_store(address_at(base, index, KEY_SHIFT), key); }
V value_load_at(uvec2 base, uint index) { return value_load(address_at(base, index, VALUE_SHIFT)); }
void value_store_at(uvec2 base, uint index, V value) { value_store(address_at(base, index, VALUE_SHIFT), value); }

const K KEY_LEAST = K(0u);    // of all keys
const K KEY_MOST = K(~0u);

#endif
