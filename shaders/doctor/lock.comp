// For the doctor: counters protected by try-locks. A lock is taken, used and released within one round.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "litmus.glsl"

const uint FENCES = 0u, SEMANTICS = 1u;
layout(constant_id = 16) const uint ORDER = 0;   // FENCES around relaxed atomics, or SEMANTICS of atomics

layout(push_constant, std430) uniform Push {
    Meeting meeting;
    uvec2 locks;     // one quad per lock, 0 before: the lock, two counters, one word unused
    uvec2 answers;   // one pair per invocation: how often it held a lock, and how often the two counters differed
    uint count;
    uint lock_count;
    uint entries;    // the number of times that an invocation wants a lock
    uint rounds;     // the maximal number of tries
    uint seed;
};

bool try_lock(uvec2 at) {
    uint before;
    if (ORDER == SEMANTICS) {
        before = atomicCompSwap(VkdsCoherentWord(at).v, 0u, 1u, gl_ScopeQueueFamily,
                                gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible, 0, 0);
    } else {
        before = atomic_cas(at, 0u, 1u);
        acquire_fence();
    }
    return before == 0u || FAULT == 1u;
}

void unlock(uvec2 at) {
    if (ORDER == SEMANTICS) {
        atomicStore(VkdsCoherentWord(at).v, 0u, gl_ScopeQueueFamily,
                    gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable);
    } else {
        release_fence();
        atomic_store(at, 0u);
    }
}

void main() {
    uint i = invocation_index();
    meet(meeting);
    if (i >= count) return;
    uint random = hash_mix(seed ^ i);
    uint entered = 0u, unequal = 0u;
    for (uint round = 0u; round < rounds && entered < entries; round++) {
        random = jitter(random, 8u);
        uvec2 lock = address_at(locks, hash_reduce(random, lock_count), 4u);
        if (try_lock(lock)) {
            uint a = atomic_load(address_add(lock, 4u));
            uint b = atomic_load(address_add(lock, 8u));
            if (a != b) unequal++;
            atomic_store(address_add(lock, 4u), a + 1u);
            atomic_store(address_add(lock, 8u), b + 1u);
            unlock(lock);
            entered++;
        }
    }
    plain_store2(address_at(answers, i, 3u), uvec2(entered, unequal));
}
