#version 460
// Each invocation adds step to one 64-bit number.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Number { uint64_t v; };
layout(push_constant) uniform Push {
	Number total;
	uint64_t steps[2];
	float unused;
} push;

void main() { atomicAdd(push.total.v, push.steps[0] + push.steps[1] + uint64_t(push.unused)); }
