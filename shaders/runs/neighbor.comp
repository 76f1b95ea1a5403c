// Finds the valid pair next to each query's key, above or below it. Without `strict` the key itself counts, too.
//
// Each round takes the nearest key in any run, and its newest pair. If that is a tombstone, the next round begins after
// it. If the visits are used up, a query stays pending, and out_keys has the key to continue from.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "run_width.glsl"
#include "sorted_run.glsl"
#include "length.glsl"
#include "results.glsl"
#include "invocation.glsl"

// 1: find the least key from the query on; 0: the greatest key up to it
layout(constant_id = 16) const uint UPWARD = 1;

layout(push_constant, std430) uniform Push {
    RunStack stack;
    uvec2 keys;         // one per query
    uvec2 out_keys;     // output: one per query, 0 if there is none; if pending, the key to continue from
    uvec2 out_values;   // output: one per query, 0 if there is none
    uvec2 statuses;     // output, with `resume` also input: one byte per query, PENDING, FOUND or ABSENT
    uvec2 left;         // counts the pending queries
    Length count;
    uint strict;        // 1: the query's own key does not count
    uint resume;        // 1: continue the pending queries
    uint visits;        // keys that a query may visit
};

// Moves the key to the next one in the direction of the search. Returns false if there is none.
bool step_on(inout K key) {
    if (key == either(UPWARD != 0u, K(~0u), K(0u))) return false;
    key_increase(key, either(UPWARD != 0u, VKDS_ONE, K(~0u)));
    return true;
}

// Finds the nearest key in any run, from `from` on and including it, the newest run that has it, and its newest pair
// there. Returns false if no run has any.
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
    // Upward, i is the first pair with the key.
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
    barrier();   // makes each subgroup converge again
    byte_store(statuses, n, end, status);
    uint pending = subgroupAdd(open ? 1u : 0u);
    if (pending != 0u && gl_SubgroupInvocationID == 0u) atomic_add(left, pending);
}
