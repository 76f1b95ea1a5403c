#version 460
// y[i] = x[i] * FACTOR + add, with buffer addresses; for any number of workgroups.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(constant_id = 0) const uint WORKGROUP = 64;
layout(constant_id = 7) const uint FACTOR = 1;
layout(local_size_x_id = 0) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint v[]; };
layout(push_constant) uniform Push {
	uvec2 x;
	uvec2 y;
	uint count;
	uint add;
} push;

void main() {
	uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
	uint i = group * WORKGROUP + gl_LocalInvocationID.x;
	if (i < push.count) Words(push.y).v[i] = Words(push.x).v[i] * FACTOR + push.add;
}
