// Moves the elements of long segments to their places. After both sorts, each place has an element of the same segment
// as before.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "key.glsl"
#include "length.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys, values;           // values: 0 for keys only
    uvec2 out_keys, out_values;
    uvec2 order;                  // for each element, its index before the sorts
    uvec2 sources;                // the indices among all elements
    Length count;
};

void main() {
    uint i = invocation_index();
    if (i >= length_of(count)) return;
    uint last = count.n - 1u;   // the last of all elements: nothing is written beyond it, whatever the sorts have left
    uint to = min(plain_load_at(sources, i), last);
    uint from = min(plain_load_at(sources, min(plain_load_at(order, i), last)), last);
    key_store_at(out_keys, to, key_load_at(keys, from));
    if ((values.x | values.y) != 0u) value_store_at(out_values, to, value_load_at(values, from));
}
