// Fetches the answers of queries whose keys were brought into another order, four per lane: each from where its key
// went. An answer is a number as wide as the values, and perhaps a byte, which is the same for all numbers except 0.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "results.glsl"
#include "invocation.glsl"
#include "width.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 destinations; // one word per query: the index of its answer
    uvec2 from_words;   // V per answer
    uvec2 from_bytes;   // one byte per answer
    uvec2 words;        // output: V per query, in the original order
    uvec2 bytes;        // output: one byte per query; 0: not wanted
    Length count;
    uint usual;         // the byte of all answers whose number is not 0
};

// Four answers, and a macro that stores them one after another.
#if VKDS_WIDE
#define FOUR V word[4]
#define FOUR_STORE(at)                                       \
    plain_store4(at, uvec4(word[0], word[1]));               \
    plain_store4(address_add(at, 16u), uvec4(word[2], word[3]))
#else
#define FOUR uvec4 word = uvec4(0u)
#define FOUR_STORE(at) plain_store4(at, word)
#endif

void main() {
    uint i = 4u * invocation_index(), n = length_of(count);
    if (i >= n) return;
    uvec4 place = min(plain_load4(address_at(destinations, i, 2u)), uvec4(n - 1u));   // beyond the end it is any number
    FOUR;
    [[unroll]] for (uint j = 0u; j < 4u; j++) word[j] = VKDS_LOAD_AT(from_words, place[j]);
    if (i + 4u <= n) {
        FOUR_STORE(address_at(words, i, VKDS_SHIFT));
    } else {
        [[unroll]] for (uint j = 0u; j < 3u; j++) if (i + j < n) VKDS_STORE_AT(words, i + j, word[j]);
    }
    if ((bytes.x | bytes.y) == 0u) return;
    uint four = 0u;
    [[unroll]] for (uint j = 0u; j < 4u; j++) {
        uint byte = usual;
        if (word[j] == V(0u)) byte = byte_load(from_bytes, place[j]);
        four |= i + j < n ? byte << (8u * j) : 0u;
    }
    plain_store(address_add(bytes, i), four);
}
