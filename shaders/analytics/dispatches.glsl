// Dispatches: where one of a kernel would take long, several share its workgroups out, each in turn one of them, since
// long rows are often neighbours. inDispatches of source.go records them, and control_order of traversal.glsl says how
// many workgroups each has; some may be to spare, as in any dispatch.
#ifndef VKDS_ANALYTICS_DISPATCHES_GLSL
#define VKDS_ANALYTICS_DISPATCHES_GLSL

#include "workgroup.glsl"

// Which workgroup of all dispatches this one is; dispatch: 0 … dispatches-1.
uint workgroup_of_all(uint dispatch, uint dispatches) { return workgroup_index() * dispatches + dispatch; }

#endif
