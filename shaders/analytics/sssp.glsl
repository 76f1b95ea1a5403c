// Shortest paths: the words of the control block that only they use.
#ifndef VKDS_ANALYTICS_SSSP_GLSL
#define VKDS_ANALYTICS_SSSP_GLSL

#include "traversal_control.glsl"

const uint CONTROL_BOUND = CONTROL_OWN;            // distances below it are near
const uint CONTROL_BEFORE = CONTROL_OWN + 1u;      // the bound before
const uint CONTROL_FAR = CONTROL_OWN + 2u;         // two: vertices in the far queues
const uint CONTROL_FAR_NOW = CONTROL_OWN + 4u;     // which of them holds
const uint CONTROL_FAR_LEAST = CONTROL_OWN + 5u;   // no far vertex that isn't stale is nearer

#endif
