// Litmus: code that the doctor's kernels share. Each of their loops has a bound, so that they end even on a device
// without forward progress. Their answers tell how far they got.
#ifndef VKDS_LITMUS_GLSL
#define VKDS_LITMUS_GLSL

#include "memory.glsl"
#include "invocation.glsl"
#include "hash.glsl"

// 1: the kernel does what its test looks for in a driver. So the doctor's own tests can see every test fail.
layout(constant_id = 31) const uint FAULT = 0;

// Takes a random time, up to `most` steps, so that invocations meet at varying places. Returns the next random number:
// use it for a decision, so that no compiler can remove the steps.
uint jitter(uint random, uint most) {
    uint steps = hash_reduce(hash_mix(random), most + 1u);
    for (uint i = 0u; i < steps; i++) random = hash_mix(random + 0x9e3779b9u);
    return hash_mix(random ^ 0x85ebca6bu);
}

// A place where workgroups wait for one another before they begin, so that they run at the same time.
struct Meeting {
    uvec2 arrivals;   // address of a word, 0 before
    uint wanted;      // the number of workgroups to wait for
    uint patience;    // the maximal number of times that an invocation checks
};

void meet(Meeting m) {
    if (gl_SubgroupID == 0u && gl_SubgroupInvocationID == 0u) atomic_add(m.arrivals, 1u);
    uint there = atomic_load(m.arrivals);
    for (uint i = 0u; i < m.patience && there < m.wanted; i++) {
        acquire_fence();   // without it a compiler may move the load out of the loop
        there = atomic_load(m.arrivals);
    }
}

#endif
