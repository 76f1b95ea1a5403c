// Finds the valid pair whose key is next to a query's: above it or below it, the key itself included or not.
//
// A round takes the nearest key that any run has, by the newest run that has it. If that is a tombstone, the next round
// goes on from there. What is not done when the visits are used up stays pending and keeps its place in out_keys.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "run_width.glsl"
#include "sorted_run.glsl"
#include "length.glsl"
#include "results.glsl"
#include "invocation.glsl"

// 1: the least key that is large enough; 0: the largest that is small enough
layout(constant_id = 16) const uint UPWARD = 1;

layout(push_constant, std430) uniform Push {
    RunStack stack;
    uvec2 keys;         // one a query
    uvec2 out_keys;     // one a query, out: 0 where there is none; of a pending query: the key to go on from
    uvec2 out_values;   // one a query, out: 0 where there is none
    uvec2 statuses;     // a byte a query, out: PENDING, FOUND or ABSENT; with `resume` also in
    uvec2 left;         // a word that the number of pending queries is added to
    Length count;
    uint strict;        // 1: the query's own key doesn't do
    uint resume;        // 1: go on with what is pending
    uint visits;        // keys that a query looks at
};

// The key beside one, in the direction of the search. False: there is none.
bool step_on(inout K key) {
    if (key == either(UPWARD != 0u, K(~0u), K(0u))) return false;
    key_increase(key, either(UPWARD != 0u, VKDS_ONE, K(~0u)));
    return true;
}

// The nearest key from `from` on, `from` included, that a run of the stack has, the newest run that has it, and its
// newest pair there. False: no run has any.
bool nearest(K from, uint rows, out K key, out Run newest, out uint i) {
    bool any = false;
    key = K(0u);
    i = 0u;
    for (uint row = 0u; row < rows; row++) {
        Run run = stack_run(stack, row);
        if (run.size == 0u) continue;
        uint at;
        if (UPWARD != 0u) {
            at = run_lower(run, from);
            if (at == run.size) continue;
        } else {
            at = run_upper(run, from);
            if (at == 0u) continue;
            at--;
        }
        K other = run_key(run, at);
        if (any && (UPWARD != 0u ? VKDS_FROM(other, key) : VKDS_UP_TO(other, key))) continue;
        any = true;
        key = other;
        newest = run;
        i = at;
    }
    // Upward, i is the first of its equals.
    if (any && UPWARD != 0u && i + 1u < newest.size) {
        if (run_key(newest, i + 1u) == key) i = run_upper(newest, key) - 1u;
    }
    return any;
}

void main() {
    uint n = invocation_index(), end = length_of(count);
    uint status = STATUS_PENDING;
    bool open = n < end;
    if (resume != 0u && open) {
        status = byte_load(statuses, n);
        open = status == STATUS_PENDING;
    }
    bool asked = open;
    K key = K(0u);
    V value = V(0u);
    if (open) {
        key = VKDS_LOAD(address_at(resume != 0u ? out_keys : keys, n, VKDS_SHIFT));
        if (resume == 0u && strict != 0u && !step_on(key)) {
            open = false;
            status = STATUS_ABSENT;
        }
    }
    uint rows = stack_rows(stack);
    for (uint visit = 0u; open && visit < visits; visit++) {
        Run run;
        uint i;
        K next;
        if (!nearest(key, rows, next, run, i)) {
            open = false;
            status = STATUS_ABSENT;
        } else {
            key = next;
            value = run_value(run, i);
            if (!run_tombstone(run, i, value)) {
                open = false;
                status = STATUS_FOUND;
            } else if (!step_on(key)) {
                open = false;
                status = STATUS_ABSENT;
            }
        }
    }
    if (asked) {
        bool none = status == STATUS_ABSENT;
        VKDS_STORE(address_at(out_keys, n, VKDS_SHIFT), none ? K(0u) : key);
        VKDS_STORE(address_at(out_values, n, VKDS_SHIFT), status == STATUS_FOUND ? value : V(0u));
    }
    barrier();   // has all lanes of a subgroup together again, for what follows
    byte_store(statuses, n, end, status);
    uint pending = subgroupAdd(open ? 1u : 0u);
    if (pending != 0u && gl_SubgroupInvocationID == 0u) atomic_add(left, pending);
}
