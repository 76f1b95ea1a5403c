// Memory: storage reached by 64-bit buffer addresses, and the atomics that the structures use.
//
// An address is a uvec2 (low word, high word), so that a module needs no 64-bit integers. Push it
// from Go as a uint64. In variables that live across a loop, keep addresses and never references:
// some drivers can't carry a buffer_reference through a phi.
//
// Every function names how it reads or writes:
//   plain_*     ordinary access. Right while no other invocation of a running dispatch writes there, or where any old
//               word will do.
//   coherent_*  sees what other invocations of the queue family wrote (bypasses incoherent caches),
//               but is not atomic as a whole: each 32-bit word is read untorn, a vector may mix ages.
//   atomic_*    relaxed atomics at queue-family scope. A loop that only waits until an atomic_load returns
//               some value needs an acquire_fence: without one, lavapipe (Mesa 25.0) moves the load out of it.
//
// Include this header first: it turns on the Vulkan memory model and the extensions that the other
// headers need. To use 64-bit atomics, define VKDS_INT64_ATOMICS as 1 before it (or with -D).
#ifndef VKDS_MEMORY_GLSL
#define VKDS_MEMORY_GLSL

#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_arithmetic : require

#ifndef VKDS_INT64_ATOMICS
#define VKDS_INT64_ATOMICS 0
#endif
#if VKDS_INT64_ATOMICS
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
#endif

#pragma use_vulkan_memory_model

// The qualifiers are on the members because glslang 12 drops them from a buffer_reference block.
layout(buffer_reference, std430, buffer_reference_align = 4) buffer VkdsWord { uint v; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer VkdsWords { uint v[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer VkdsPair { uvec2 v; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer VkdsPairs { uvec2 v[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer VkdsQuad { uvec4 v; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer VkdsCoherentWord {
    queuefamilycoherent nonprivate uint v;
};
layout(buffer_reference, std430, buffer_reference_align = 8) buffer VkdsCoherentPair {
    queuefamilycoherent nonprivate uvec2 v;
};
layout(buffer_reference, std430, buffer_reference_align = 16) buffer VkdsCoherentQuad {
    queuefamilycoherent nonprivate uvec4 v;
};
#if VKDS_INT64_ATOMICS
layout(buffer_reference, std430, buffer_reference_align = 8) buffer VkdsCoherentLong {
    queuefamilycoherent nonprivate uint64_t v;
};
#endif

// address + bytes.
uvec2 address_add(uvec2 address, uint bytes) {
    uint low = address.x + bytes;
    return uvec2(low, address.y + (low < bytes ? 1u : 0u));
}

// base + index * 2^shift, for a shift of 1 to 31 and any 32-bit index.
uvec2 address_at(uvec2 base, uint index, uint shift) {
    uvec2 a = address_add(base, index << shift);
    return uvec2(a.x, a.y + (index >> (32u - shift)));
}

// GPUs assume that the address of a vector is aligned to its size, and access another address if it isn't. CPU drivers
// accept any address. With VKDS_CHAOS, for tests, they access the aligned address as GPUs may.
#ifdef VKDS_CHAOS
#define VKDS_ALIGNED(A, BYTES) uvec2(A.x & ~(BYTES - 1u), A.y)
#else
#define VKDS_ALIGNED(A, BYTES) A
#endif

uint plain_load(uvec2 a) { return VkdsWord(a).v; }
uvec2 plain_load2(uvec2 a) { return VkdsPair(VKDS_ALIGNED(a, 8u)).v; }
uvec4 plain_load4(uvec2 a) { return VkdsQuad(VKDS_ALIGNED(a, 16u)).v; }
void plain_store(uvec2 a, uint v) { VkdsWord(a).v = v; }
void plain_store2(uvec2 a, uvec2 v) { VkdsPair(VKDS_ALIGNED(a, 8u)).v = v; }
void plain_store4(uvec2 a, uvec4 v) { VkdsQuad(VKDS_ALIGNED(a, 16u)).v = v; }

// Word `index` of an array, for any 32-bit index.
uint plain_load_at(uvec2 base, uint index) { return plain_load(address_at(base, index, 2u)); }
void plain_store_at(uvec2 base, uint index, uint v) { plain_store(address_at(base, index, 2u), v); }

// Word `index` of an array, for an index below 2^29, or pair of words, for an index below 2^28. They take fewer
// instructions than …_at. The limits are due to drivers: an index is signed, and its byte offset may have 32 bits.
uint plain_load_near(uvec2 base, uint index) { return VkdsWords(base).v[index]; }
uvec2 plain_load2_near(uvec2 base, uint index) { return VkdsPairs(VKDS_ALIGNED(base, 8u)).v[index]; }
void plain_store_near(uvec2 base, uint index, uint v) { VkdsWords(base).v[index] = v; }
void plain_store2_near(uvec2 base, uint index, uvec2 v) { VkdsPairs(VKDS_ALIGNED(base, 8u)).v[index] = v; }

#ifdef VKDS_CHAOS
#include "chaos.glsl"
#define VKDS_DELAY chaos_delay();
uvec2 coherent_load2(uvec2 a) { return chaos_load(VKDS_ALIGNED(a, 8u), 2u).xy; }
uvec4 coherent_load4(uvec2 a) { return chaos_load(VKDS_ALIGNED(a, 16u), 4u); }
void coherent_store2(uvec2 a, uvec2 v) { chaos_store(VKDS_ALIGNED(a, 8u), uvec4(v, 0u, 0u), 2u); }
void coherent_store4(uvec2 a, uvec4 v) { chaos_store(VKDS_ALIGNED(a, 16u), v, 4u); }
#else
#define VKDS_DELAY
uvec2 coherent_load2(uvec2 a) { return VkdsCoherentPair(a).v; }
uvec4 coherent_load4(uvec2 a) { return VkdsCoherentQuad(a).v; }
void coherent_store2(uvec2 a, uvec2 v) { VkdsCoherentPair(a).v = v; }
void coherent_store4(uvec2 a, uvec4 v) { VkdsCoherentQuad(a).v = v; }
#endif

#define VKDS_RELAXED gl_ScopeQueueFamily, 0, 0

uint atomic_load(uvec2 a) { VKDS_DELAY return atomicLoad(VkdsCoherentWord(a).v, VKDS_RELAXED); }
void atomic_store(uvec2 a, uint v) { VKDS_DELAY atomicStore(VkdsCoherentWord(a).v, v, VKDS_RELAXED); }
uint atomic_add(uvec2 a, uint v) { VKDS_DELAY return atomicAdd(VkdsCoherentWord(a).v, v, VKDS_RELAXED); }
// SwiftShader's minimum and maximum are a load and a store, not atomic: writes of others in between are lost. `vkds
// doctor` counts them.
uint atomic_min(uvec2 a, uint v) { VKDS_DELAY return atomicMin(VkdsCoherentWord(a).v, v, VKDS_RELAXED); }
uint atomic_max(uvec2 a, uint v) { VKDS_DELAY return atomicMax(VkdsCoherentWord(a).v, v, VKDS_RELAXED); }
uint atomic_and(uvec2 a, uint v) { VKDS_DELAY return atomicAnd(VkdsCoherentWord(a).v, v, VKDS_RELAXED); }
uint atomic_or(uvec2 a, uint v) { VKDS_DELAY return atomicOr(VkdsCoherentWord(a).v, v, VKDS_RELAXED); }
uint atomic_exchange(uvec2 a, uint v) { VKDS_DELAY return atomicExchange(VkdsCoherentWord(a).v, v, VKDS_RELAXED); }
// Stores v if the word holds expected; returns what the word held.
uint atomic_cas(uvec2 a, uint expected, uint v) {
    VKDS_DELAY
    return atomicCompSwap(VkdsCoherentWord(a).v, expected, v, gl_ScopeQueueFamily, 0, 0, 0, 0);
}

// Fences order memory around a publication. Invocation A writes data by atomics, executes release_fence, and writes a
// word by an atomic. Invocation B reads that word and executes acquire_fence. Its coherent and atomic reads after that
// see the data. Plain accesses are private to their invocation: no fence orders them.
//
// Four rules are assumed that the Vulkan memory model doesn't state. They hold wherever a subgroup is one thread of
// the hardware:
//   - Fence of a subgroup: a fence that all lanes execute together orders the accesses of all lanes before it with the
//     accesses of all lanes after it.
//   - Order by address: if an address came from a coherent or atomic load, in the same lane or through a shuffle, then
//     a coherent or atomic access by that address is not made before that load. So an invocation that follows a
//     reference stored after a release_fence sees all writes before that fence, without a fence of its own.
//   - Order by result: an atomic that is executed only if another atomic returned some value is made after that one.
//   - Old words: a plain load of a word that others change brings a value that the word has had since the dispatch
//     began, or since the invocation's last acquire_fence if that is later. Caches that are not coherent may answer it.
//     They hold what some invocation has read: no line of 128 bytes that nobody has read since the dispatch began.
void release_fence() {
    memoryBarrier(gl_ScopeQueueFamily, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable);
}
void acquire_fence() {
    memoryBarrier(gl_ScopeQueueFamily, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible);
}
// A release and an acquire fence in one, which costs no more than one of them.
void full_fence() {
    memoryBarrier(gl_ScopeQueueFamily, gl_StorageSemanticsBuffer,
                  gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
}

#if VKDS_INT64_ATOMICS
// A pair of words as one 64-bit atomic: .x is the low word, at the lower address.
uvec2 atomic_load2(uvec2 a) { VKDS_DELAY return unpackUint2x32(atomicLoad(VkdsCoherentLong(a).v, VKDS_RELAXED)); }
void atomic_store2(uvec2 a, uvec2 v) { VKDS_DELAY atomicStore(VkdsCoherentLong(a).v, packUint2x32(v), VKDS_RELAXED); }
uvec2 atomic_exchange2(uvec2 a, uvec2 v) {
    VKDS_DELAY
    return unpackUint2x32(atomicExchange(VkdsCoherentLong(a).v, packUint2x32(v), VKDS_RELAXED));
}
uvec2 atomic_add2(uvec2 a, uvec2 v) {
    VKDS_DELAY
    return unpackUint2x32(atomicAdd(VkdsCoherentLong(a).v, packUint2x32(v), VKDS_RELAXED));
}
uvec2 atomic_min2(uvec2 a, uvec2 v) {
    VKDS_DELAY
    return unpackUint2x32(atomicMin(VkdsCoherentLong(a).v, packUint2x32(v), VKDS_RELAXED));
}
uvec2 atomic_max2(uvec2 a, uvec2 v) {
    VKDS_DELAY
    return unpackUint2x32(atomicMax(VkdsCoherentLong(a).v, packUint2x32(v), VKDS_RELAXED));
}
uvec2 atomic_and2(uvec2 a, uvec2 v) {
    VKDS_DELAY
    return unpackUint2x32(atomicAnd(VkdsCoherentLong(a).v, packUint2x32(v), VKDS_RELAXED));
}
uvec2 atomic_cas2(uvec2 a, uvec2 expected, uvec2 v) {
    VKDS_DELAY
    return unpackUint2x32(atomicCompSwap(VkdsCoherentLong(a).v, packUint2x32(expected), packUint2x32(v),
                                         gl_ScopeQueueFamily, 0, 0, 0, 0));
}
#else
// Code that changes shared pairs by 32-bit atomics calls this function. It does nothing, but vk.NewKernel finds its
// name in the module, and returns an error on devices where 64-bit atomics change the pairs: the two don't mix.
void pairs_by_32_bit_atomics() {}
#endif

#endif
