// For test/shader: each invocation changes a slot by one of the functions of slab_change.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_change.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 slabs;
    uvec2 changes;   // one quad per invocation: the function, slab, slot, reference
    uvec2 numbers;   // four numbers per invocation: key, value seen, value, target
    uvec2 answers;   // one word per invocation: true or false (for link: the reference)
    uvec2 seen;      // one number per invocation: the value from slab_value
    uint count;
};

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    uvec4 q = plain_load4(address_at(changes, i, 4u));
    uvec2 slab = address_at(slabs, q.y, SLAB_SHIFT);
    uint slot = q.z, answer = 0u;
    K key = VKDS_LOAD_AT(numbers, 4u * i), target = VKDS_LOAD_AT(numbers, 4u * i + 3u);
    V saw = VKDS_LOAD_AT(numbers, 4u * i + 1u), value = VKDS_LOAD_AT(numbers, 4u * i + 2u);
    switch (q.x) {
    case 0u: answer = slab_insert(slab, slot, key, value, target) ? 1u : 0u; break;
    case 1u: answer = slab_erase(slab, slot, key) ? 1u : 0u; break;
    case 2u: answer = slab_value(slab, slot, key, saw) ? 1u : 0u; break;
    case 3u: answer = slab_assign(slab, slot, VKDS_SLAB_SEEN(saw) value) ? 1u : 0u; break;
    case 4u: answer = slab_add(slab, slot, VKDS_SLAB_SEEN(saw) value) ? 1u : 0u; break;
    case 5u: answer = slab_min(slab, slot, saw, value) ? 1u : 0u; break;
    case 6u: answer = slab_max(slab, slot, saw, value) ? 1u : 0u; break;
    case 7u: answer = slab_link(slab, q.w); break;
    default: answer = slab_change(slab, q.x - 8u, slot, key, saw, value, target) ? 1u : 0u; break;
    }
    plain_store_at(answers, i, answer);
    VKDS_STORE_AT(seen, i, saw);
}
