// For the watchdog's test: measures how long subgroups take to change one word by a compare-and-swap each, one after
// another.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 word;    // counts the changes
    uint count;    // the number of invocations
};

void main() {
    if (invocation_index() >= count || !subgroupElect()) return;
    uint seen = atomic_load(word);
    for (uint tries = count; tries != 0u; tries--) {
        uint before = atomic_cas(word, seen, seen + 1u);
        if (before == seen) break;
        seen = before;
    }
}
