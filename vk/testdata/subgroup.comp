#version 460
// Describes the subgroups of one workgroup: out[0] is their size, out[1] their number, and out[2] the number of
// invocations in all of them, counted by ballots.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x_id = 3) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint v[]; };
layout(push_constant) uniform Push { uvec2 result; } push;

void main() {
	uint lanes = subgroupBallotBitCount(subgroupBallot(true));
	if (subgroupElect()) {
		Words result = Words(push.result);
		result.v[0] = gl_SubgroupSize;
		result.v[1] = gl_NumSubgroups;
		atomicAdd(result.v[2], lanes);
	}
}
