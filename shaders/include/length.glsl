// Length: how many elements an array has, known to the host or to the device alone.
#ifndef VKDS_LENGTH_GLSL
#define VKDS_LENGTH_GLSL

#include "memory.glsl"

struct Length {
    uvec2 at;   // 0, or the address of the length
    uint n;     // the length, or a bound of it
};

uint length_of(Length l) {
    if ((l.at.x | l.at.y) == 0u) return l.n;
    return min(plain_load(l.at), l.n);
}

#endif
