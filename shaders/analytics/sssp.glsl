// Shortest paths: the words of the control block that only they use.
#ifndef VKDS_ANALYTICS_SSSP_GLSL
#define VKDS_ANALYTICS_SSSP_GLSL

#include "traversal_control.glsl"

const uint CONTROL_BOUND = CONTROL_OWN;            // distances below it are near
const uint CONTROL_BEFORE = CONTROL_OWN + 1u;      // the previous bound
const uint CONTROL_FAR = CONTROL_OWN + 2u;         // two words: the numbers of vertices in the far queues
const uint CONTROL_FAR_NOW = CONTROL_OWN + 4u;     // the valid far queue
const uint CONTROL_FAR_LEAST = CONTROL_OWN + 5u;   // a lower bound of the distances of far vertices that are not stale
const uint CONTROL_INVALID = CONTROL_OWN + 6u;     // 1 if an arc has an invalid weight; then its ends and its weight

#endif
