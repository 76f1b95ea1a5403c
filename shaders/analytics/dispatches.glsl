// Dispatches: divides a dispatch that would take long into several. They take its workgroups round robin, because long
// rows are often neighbours. inDispatches of source.go records them, and control_order of traversal.glsl computes the
// number of workgroups of each; there may be more than needed, as in any dispatch.
#ifndef VKDS_ANALYTICS_DISPATCHES_GLSL
#define VKDS_ANALYTICS_DISPATCHES_GLSL

#include "workgroup.glsl"

// Which workgroup of all dispatches this one is; dispatch: 0 … dispatches-1.
uint workgroup_of_all(uint dispatch, uint dispatches) { return workgroup_index() * dispatches + dispatch; }

#endif
