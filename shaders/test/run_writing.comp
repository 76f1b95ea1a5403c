// For test/shader: bitmap.glsl and run_index.glsl, as used by a workgroup that writes a part of a run.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../runs/run_index.glsl"
#define BITMAP_BITS (2u * WORKGROUP)
#include "../primitives/bitmap.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 index;   // all ones before
    uvec2 thirds;  // output: one bit per key, whether its low word is a multiple of 3; by bitmap_set_all
    uvec2 fifths;  // output: one bit per key, whether its low word is a multiple of 5; by bitmap_set
    uint count;
    uint words;    // the number of keys in the index
};

uint low_word(uvec2 number) { return number.x; }
uint low_word(uint number) { return number; }

void main() {
    uint first = workgroup_index() * BITMAP_BITS;
    if (first >= count) return;   // the whole workgroup
    uint n = min(count - first, BITMAP_BITS);
    bitmap_clear();
    barrier();
    for (uint place = workgroup_lane(); place < BITMAP_BITS; place += WORKGROUP) {
        uint low = 1u;
        if (place < n) {
            K key = VKDS_LOAD_AT(keys, first + place);
            low = low_word(key);
            run_index_put(index, words, count, first + place, key);
        }
        bitmap_set_all(place, low % 3u == 0u);
    }
    barrier();
    bitmap_store(address_at(thirds, first >> 5, 2u), n);
    barrier();
    bitmap_clear();
    barrier();
    for (uint place = workgroup_lane(); place < n; place += WORKGROUP)
        if (low_word(VKDS_LOAD_AT(keys, first + place)) % 5u == 0u) bitmap_set(place);
    barrier();
    bitmap_store(address_at(fifths, first >> 5, 2u), n);
}
