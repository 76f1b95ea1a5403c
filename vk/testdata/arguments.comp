#version 460
// y[i] = add + more.factor * i, with some inputs in a block of arguments; for any number of workgroups.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint v[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer More {
	uvec2 y;
	uint factor;
};
layout(push_constant) uniform Push {
	More more;
	Words open;
	uint count;
	uint add;
} push;

void main() {
	uint i = gl_WorkGroupID.x * 64u + gl_LocalInvocationID.x;
	if (i < push.count) Words(push.more.y).v[i] = push.add + push.more.factor * i;
}
