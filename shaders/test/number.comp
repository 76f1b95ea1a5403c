// For test/shader: number.glsl and key.glsl, at both widths.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "key.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;      // one key per invocation
    uvec2 values;    // one value per invocation, to compare the key with
    uvec2 numbers;   // output: NUMBERS per invocation
    uvec2 words;     // output, four words per invocation: equal, below, the key's bits, those from the shift on
    uvec2 copies;    // of the keys, and then of the values: copies by all load and store functions
    uint shift;
    uint mask;
    uint count;
};

const uint NUMBERS = 5u;

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    K a = key_load_at(keys, i);
    V b = value_load_at(values, i);
    key_store_at(numbers, i * NUMBERS, number_min(a, b));
    key_store_at(numbers, i * NUMBERS + 1u, number_max(a, b));
    key_store_at(numbers, i * NUMBERS + 2u, number_add(a, b));
    key_store_at(numbers, i * NUMBERS + 3u, number_subtract(a, b));
    uvec2 shifted = number_shifted(plain_load(address_at(values, i, VALUE_SHIFT)), shift);
    key_store_at(numbers, i * NUMBERS + 4u, K(shifted));
    plain_store_near(words, 4u * i, number_equal(a, b) ? 1u : 0u);
    plain_store_near(words, 4u * i + 1u, number_below(a, b) ? 1u : 0u);
    plain_store_near(words, 4u * i + 2u, number_bits(a, shift, mask));
    plain_store_near(words, 4u * i + 3u, number_from(a, shift));
    key_store_near(copies, i, key_load_near(keys, i));
    value_store_near(copies, count + i, value_load_near(values, i));
    value_store_at(copies, 2u * count + i, b);
    if (i != 0u) return;
    key_store_at(copies, 3u * count, KEY_LEAST);
    key_store_at(copies, 3u * count + 1u, KEY_MOST);
    key_store_at(copies, 3u * count + 2u, key_of(count));
}
