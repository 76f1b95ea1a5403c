// Chooses the range of keys that a prefix index divides, by a sample of the batch's keys. One workgroup.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_prefix_index.glsl"
#include "length.glsl"
#include "../primitives/key_sample.glsl"

layout(push_constant, std430) uniform Push {
    BTreePrefixIndex index;
    uint key_shift;   // log2 of the distance of keys in bytes
    uvec2 keys;
    Length count;
};

void main() {
    K low, high;
    key_sample(keys, length_of(count), key_shift, low, high);
    if (workgroup_lane() == 0u)
        plain_store4(index.entries, uvec4(low, key_sample_shift(low, high, index.bits), 0u));
}
