// Programs: the operations that invocations of a test's kernel do one after another, and their outcomes.
//
// An operation is two quads: its kind (OP_MIXED: none); its key and its value, two words each. An outcome is two quads,
// too: status, 0, the tickets before and after; the value. With 32 bits, the second words of keys and values are not
// used.
#ifndef VKDS_TEST_PROGRAM_GLSL
#define VKDS_TEST_PROGRAM_GLSL

#include "operation.glsl"
#include "width.glsl"

void program_load(uvec2 operations, uint at, out uint kind, out K key, out V value) {
    uvec2 operation = address_at(operations, at, 5u);
    kind = plain_load(operation);
    key = VKDS_LOAD(address_add(operation, 16u));
    value = VKDS_LOAD(address_add(operation, 24u));
}

void program_store(uvec2 outcomes, uint at, uint status, V value, uint before, uint after) {
    uvec2 outcome = address_at(outcomes, at, 5u);
    plain_store4(outcome, uvec4(status, 0u, before, after));
    VKDS_STORE(address_add(outcome, 16u), value);
}

#endif
