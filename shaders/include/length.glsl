// Length: the number of elements of an array, which the host knows or only the device.
#ifndef VKDS_LENGTH_GLSL
#define VKDS_LENGTH_GLSL

#include "memory.glsl"

struct Length {
    uvec2 at;   // 0, or the address of the length
    uint n;     // the length, or an upper bound of it
};

uint length_of(Length l) {
    if ((l.at.x | l.at.y) == 0u) return l.n;
    return min(plain_load(l.at), l.n);
}

#endif
