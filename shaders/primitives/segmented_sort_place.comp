// Brings the elements of long segments to their places. After both sorts, a place among them has an element of the
// segment that it had one of before.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys, values;           // values: 0 for keys alone
    uvec2 out_keys, out_values;
    uvec2 places;                 // where each was before
    uvec2 sources;                // where that is among all elements
    Length count;
};

void main() {
    uint i = invocation_index();
    if (i >= length_of(count)) return;
    uint to = plain_load(address_at(sources, i, 2u));
    uint from = plain_load(address_at(sources, plain_load(address_at(places, i, 2u)), 2u));
    plain_store(address_at(out_keys, to, 2u), plain_load(address_at(keys, from, 2u)));
    if ((values.x | values.y) != 0u)
        plain_store(address_at(out_values, to, 2u), plain_load(address_at(values, from, 2u)));
}
