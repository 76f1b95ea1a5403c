// Litmus: what the doctor's kernels share. Every loop of theirs has a bound, so that a device without forward
// progress ends them too; what was reached is the answer.
#ifndef VKDS_LITMUS_GLSL
#define VKDS_LITMUS_GLSL

#include "memory.glsl"
#include "invocation.glsl"
#include "hash.glsl"

// 1 makes the kernel do what its test looks for in a driver: so the doctor's own tests see every test fail.
layout(constant_id = 31) const uint FAULT = 0;

// Lets a random time pass, up to `most` steps, so that invocations meet at varying places. Returns the next
// random number: choose by it, so that no compiler can leave the steps out.
uint jitter(uint random, uint most) {
    uint steps = hash_reduce(hash_mix(random), most + 1u);
    for (uint i = 0u; i < steps; i++) random = hash_mix(random + 0x9e3779b9u);
    return hash_mix(random ^ 0x85ebca6bu);
}

// Where workgroups meet before they begin, so that they run beside each other.
struct Meeting {
    uvec2 arrivals;   // address of a word, 0 before
    uint wanted;      // workgroups
    uint patience;    // how often an invocation looks whether so many are there
};

void meet(Meeting m) {
    if (gl_SubgroupID == 0u && gl_SubgroupInvocationID == 0u) atomic_add(m.arrivals, 1u);
    uint there = atomic_load(m.arrivals);
    for (uint i = 0u; i < m.patience && there < m.wanted; i++) {
        acquire_fence();   // without one a compiler may move the load out of the loop
        there = atomic_load(m.arrivals);
    }
}

#endif
