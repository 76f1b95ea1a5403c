// Complements keys that were sorted as complements, the greatest first.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "key.glsl"
#include "length.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    Length length;
};

void main() {
    uint i = invocation_index();
    if (i < length_of(length)) key_store_at(keys, i, ~key_load_at(keys, i));
}
