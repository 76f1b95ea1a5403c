// Chaos: random delays at concurrent accesses, for tests ("make test-chaos"), so that rare interleavings happen sooner.
//
// In modules compiled with VKDS_CHAOS, memory.glsl includes this header. It also reads and writes the parts of vectors
// one by one, in any order that the headers' assumptions allow. memory.glsl itself aligns the addresses of vectors.
#include "memory.glsl"   // in the middle of which this stands, where it is asked for
#if defined(VKDS_CHAOS) && !defined(VKDS_CHAOS_GLSL)
#define VKDS_CHAOS_GLSL

uint chaos_state = 0u;

uint chaos_random() {
    if (chaos_state == 0u)
        chaos_state = gl_WorkGroupID.x * 0xc2b2ae35u ^ gl_SubgroupID * 0x85ebca6bu
                    ^ gl_SubgroupInvocationID * 0x9e3779b9u ^ 0x1234567u;
    chaos_state = chaos_state * 1664525u + 1013904223u;
    return chaos_state >> 8;
}

// Delays one of 256 accesses of a lane, for 1 to 2^12 fences; all powers of two are equally frequent. Long delays must
// be rare, so that other invocations progress meanwhile. A subgroup waits when any of its lanes does.
void chaos_delay() {
    uint r = chaos_random();
    if ((r & 255u) != 0u) return;
    uint spins = 1u << (r >> 8) % 13u;
    [[dont_unroll]] for (uint i = 0u; i < spins; i++)
        memoryBarrier(gl_ScopeQueueFamily, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible);
}

// The words that one access takes: pairs on GPUs, which access an aligned pair whole, as the headers assume there.
#ifdef VKDS_CHAOS_GPU
const uint CHAOS_WORDS = 2u;
uvec2 chaos_part(uvec2 a) { return VkdsCoherentPair(a).v; }
void chaos_put(uvec2 a, uvec2 v) { VkdsCoherentPair(a).v = v; }
#else
const uint CHAOS_WORDS = 1u;
uvec2 chaos_part(uvec2 a) { return uvec2(VkdsCoherentWord(a).v, 0u); }
void chaos_put(uvec2 a, uvec2 v) { VkdsCoherentWord(a).v = v.x; }
#endif

uvec4 chaos_load(uvec2 a, uint words) {
    uvec4 v = uvec4(0u);
    uint first = chaos_random();
    [[dont_unroll]] for (uint i = 0u; i < words; i += CHAOS_WORDS) {
        uint w = (first * CHAOS_WORDS + i) & (words - 1u);
        chaos_delay();
        uvec2 part = chaos_part(address_add(a, 4u * w));
        v[w] = part.x;
        if (CHAOS_WORDS == 2u) v[w + 1u] = part.y;
        chaos_state ^= part.x;   // so that no two dispatches wait at the same places
    }
    return v;
}

void chaos_store(uvec2 a, uvec4 v, uint words) {
    uint first = chaos_random();
    [[dont_unroll]] for (uint i = 0u; i < words; i += CHAOS_WORDS) {
        uint w = (first * CHAOS_WORDS + i) & (words - 1u);
        chaos_delay();
        chaos_put(address_add(a, 4u * w), uvec2(v[w], v[min(w + 1u, 3u)]));
    }
}

#endif
