// Dispatches: where one of a kernel would take long, several share its workgroups out, each has as many (inParts of
// source.go). Some may be to spare, as in any dispatch.
#ifndef VKDS_ANALYTICS_DISPATCHES_GLSL
#define VKDS_ANALYTICS_DISPATCHES_GLSL

#include "workgroup.glsl"

// Which workgroup of all dispatches this one is; dispatch: 0 … dispatches-1.
uint workgroup_of_all(uint dispatch) {
    return dispatch * gl_NumWorkGroups.x * gl_NumWorkGroups.y + workgroup_index();
}

#endif
