#version 460
// Keeps the device busy with rounds of a generator. The last number is written, so no round can be optimized away.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint v[]; };
layout(push_constant) uniform Push {
	uvec2 result;
	uint rounds;
} push;

void main() {
	uint x = gl_LocalInvocationID.x;
	for (uint i = 0; i < push.rounds; i++) x = x * 1664525u + (x >> 7) + i;
	Words(push.result).v[gl_LocalInvocationID.x] = x;
}
