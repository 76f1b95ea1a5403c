// For test/shader: the sizes and offsets of a slab, to compare with those of the host.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 numbers;   // output: four words
    uvec2 slab;      // output: a slab; all words of each slot are the slot's number
};

void main() {
    if (invocation_index() != 0u) return;
    plain_store4(numbers, uvec4(SLAB_SLOTS, SLAB_SLOT_BYTES, SLAB_AUX_AT, SLAB_NEXT_AT));
    for (uint slot = 0u; slot < SLAB_SLOTS; slot++)
        for (uint at = 0u; at < SLAB_SLOT_BYTES; at += 4u) plain_store(address_add(slab_slot(slab, slot), at), slot);
}
