// For test/shader: each invocation changes a slot by one of the functions of slab_change.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_change.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 slabs;
    uvec2 changes;   // two quads an invocation: what, slab, slot, key; value seen, value, target, 0
    uvec2 answers;   // a pair an invocation: true or false (link: the reference), the value that slab_value gave
    uint count;
};

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    uvec4 q = plain_load4(address_at(changes, 2u * i, 4u));
    uvec4 r = plain_load4(address_at(changes, 2u * i + 1u, 4u));
    uvec2 slab = address_at(slabs, q.y, SLAB_SHIFT);
    uint slot = q.z, key = q.w, seen = r.x, value = r.y, target = r.z;
    uint answer = 0u;
    switch (q.x) {
    case 0u: answer = slab_insert(slab, slot, key, value, target) ? 1u : 0u; break;
    case 1u: answer = slab_erase(slab, slot, key) ? 1u : 0u; break;
    case 2u: answer = slab_value(slab, slot, key, seen) ? 1u : 0u; break;
    case 3u: answer = slab_assign(slab, slot, value) ? 1u : 0u; break;
    case 4u: answer = slab_add(slab, slot, value) ? 1u : 0u; break;
    case 5u: answer = slab_min(slab, slot, seen, value) ? 1u : 0u; break;
    case 6u: answer = slab_max(slab, slot, seen, value) ? 1u : 0u; break;
    case 7u: answer = slab_link(slab, value); break;
    default: answer = slab_change(slab, q.x - 8u, slot, key, seen, value, target) ? 1u : 0u; break;
    }
    plain_store2(address_at(answers, i, 3u), uvec2(answer, seen));
}
