// Dispatches: divides a dispatch that would take long into several. Each workgroup of the whole goes to the next
// dispatch in turn, because long rows are often next to each other. inDispatches of kernels.go records them, and
// control_order of traversal.glsl computes their number of workgroups. As in any dispatch, there may be more than
// needed.
#ifndef VKDS_ANALYTICS_DISPATCHES_GLSL
#define VKDS_ANALYTICS_DISPATCHES_GLSL

#include "workgroup.glsl"

// The number of this workgroup among those of all dispatches. `dispatch` is 0 … dispatches-1.
uint workgroup_of_all(uint dispatch, uint dispatches) { return workgroup_index() * dispatches + dispatch; }

#endif
