// Fetches the answers of lookups whose keys were brought into another order, four a lane: each from where its key went.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "results.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 places;         // uint32 a query: the number of its answer
    uvec2 found_values;   // uint32 an answer: the value, 0 where the key is absent
    uvec2 found_flags;    // a byte an answer: 1 where the key is there, else 0
    uvec2 values;         // the same for each query, out
    uvec2 found;
    uint count;
};

void main() {
    uint i = 4u * invocation_index();
    if (i >= count) return;
    uvec4 place = min(plain_load4(address_at(places, i, 2u)), uvec4(count - 1u));   // beyond the end it is anything
    uvec4 value = uvec4(0u);
    [[unroll]] for (uint j = 0u; j < 4u; j++) value[j] = plain_load_at(found_values, place[j]);
    uint flags = 0u;
    [[unroll]] for (uint j = 0u; j < 4u; j++) {
        uint there = 1u;   // what has a value is
        if (value[j] == 0u) there = byte_load(found_flags, place[j]);
        flags |= i + j < count ? there << (8u * j) : 0u;
    }
    if (i + 4u <= count) {
        plain_store4(address_at(values, i, 2u), value);
    } else {
        [[unroll]] for (uint j = 0u; j < 3u; j++) if (i + j < count) plain_store_at(values, i + j, value[j]);
    }
    plain_store(address_add(found, i), flags);
}
