// Counts the digits of all passes of a sort in one reading of the keys. The last workgroup to end turns the counts into
// each digit's first place in the output, and chooses the steps. The kernel also clears the words that the tiles of the
// first step publish.
#version 460
#extension GL_GOOGLE_include_directive : require
#define RADIX_ELEMENTS_ONLY
#include "radix.glsl"
#include "length.glsl"
#include "sort_upper.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 counts;      // RADIX words per pass, 0 before; then the first places
    uvec2 ended;       // a word, 0 before: the number of workgroups that have ended
    uvec2 published;   // of the first step: the first places, then `publishes` words to clear
    uvec2 steps;       // output: the plan
    uvec2 tried;       // if `uppers` is not 0: TRIED_DIGITS * RADIX words, 0 before
    uint publishes;
    uint passes;                // at least one
    uint digits[DIGITS / 2u];   // of the passes, two per word
    uint uppers;                // the greatest number of passes by upper digits; 0: there is no local sort
    Length length;
};

const uint STEP = 8u;   // keys that a lane loads at a time
const uint CHUNK = WORKGROUP * STEP;

shared uint histogram[DIGITS * RADIX];
shared uint sums[SUBGROUPS];
shared uint made;   // bit p: keys differ in the digit of pass p
shared bool last;

uint digit_at(uint p) { return digits[p / 2u] >> (p % 2u * 16u) & 0xffffu; }

// Notes the passes in `wanted` as steps, from word `at` of the plan on. Each step writes what the next one reads. The
// last one writes the output or, with `turned`, what a local sort reads.
void note_steps(uint wanted, uint at, uint room, bool turned) {
    uint left = uint(bitCount(wanted)) + (turned ? 1u : 0u), step = 0u;
    for (uint p = 0u; p < passes; p++) {
        if ((wanted >> p & 1u) == 0u) continue;
        uint later = wanted >> p >> 1;
        uint next = later == 0u ? 0u : STEP_MORE | (p + 1u + uint(findLSB(later))) << STEP_NEXT_AT;
        left--;
        plain_store_near(steps, at + step++, digit_at(p) | next | ((left & 1u) != 0u ? STEP_TURNED : 0u));
    }
    for (; step < room; step++) plain_store_near(steps, at + step, 0u);
}

// The uppermost passes, at most `uppers`, that leave only short runs with equal upper digits to a local sort, if that
// saves at least two passes; otherwise 0. `keys_tried` of the n keys were tried.
uint upper_passes(uint wanted, uint keys_tried, uint n) {
    float expected = float(n);
    uint upper = 0u;
    for (uint p = passes; p-- > 0u;) {
        if ((wanted >> p & 1u) == 0u) continue;
        uint below = wanted & ((1u << p) - 1u);
        if (bitCount(below) < 2 || uint(bitCount(upper)) == min(uppers, UPPER_STEPS)) return 0u;
        upper |= 1u << p;
        expected *= float(alike[p]) / ALIKE_ONE;
        if (expected < MOST_EXPECTED && !upper_crowded(p, keys_tried, n)) return upper;
    }
    return 0u;
}

// Tries a key by its bits from each digit on.
void try_key(K key) {
#if VKDS_KEY_BITS == 64
    for (uint t = 0u; t < TRIED_DIGITS && LOWEST_UPPER + t < passes; t++) {
        uint from = digit_at(LOWEST_UPPER + t) & 0xffu;
        uint low = from < 32u ? ~0u << from : 0u, high = from < 32u ? ~0u : ~0u << (from - 32u);
        upper_try(t, key & uvec2(low, high));
    }
#endif
}

void main() {
    uint self = workgroup_lane();
    uint groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    uint group = workgroup_index();
    for (uint i = self; i < passes * RADIX; i += WORKGROUP) histogram[i] = 0u;
    if (uppers != 0u) upper_begin();
    for (uint i = group * WORKGROUP + self; i < publishes; i += groups * WORKGROUP)
        plain_store_near(published, RADIX + i, 0u);
    barrier();

    uint n = length_of(length);
    uint chunks = n / CHUNK + (n % CHUNK != 0u ? 1u : 0u);
    bool tries = uppers != 0u && upper_tries(group);
    for (uint chunk = group; chunk < chunks; chunk += groups) {
        uint first = chunk * CHUNK, left = n - first;
        K key[STEP];
        [[unroll]] for (uint k = 0u; k < STEP; k++) key[k] = radix_load(keys, first, self + k * WORKGROUP, left);
        // If all keys of a lane have the same digit, the lane counts them at once. This is common in the upper digits
        // of small numbers, where all lanes would contend for one counter.
        if (left >= CHUNK) {
            if (tries) try_key(key[0]);
            K differ = key[0] ^ key[1];
            [[unroll]] for (uint k = 2u; k < STEP; k++) differ |= key[0] ^ key[k];
            for (uint p = 0u; p < passes; p++) {
                uint digit = digit_at(p);
                if (step_digit(digit, differ) == 0u) {
                    atomicAdd(histogram[p * RADIX + step_digit(digit, key[0])], STEP);
                } else {
                    [[unroll]] for (uint k = 0u; k < STEP; k++)
                        atomicAdd(histogram[p * RADIX + step_digit(digit, key[k])], 1u);
                }
            }
        } else {
            [[unroll]] for (uint k = 0u; k < STEP; k++) {
                if (self + k * WORKGROUP >= left) continue;
                for (uint p = 0u; p < passes; p++)
                    atomicAdd(histogram[p * RADIX + step_digit(digit_at(p), key[k])], 1u);
            }
        }
    }
    barrier();
    for (uint i = self; i < passes * RADIX; i += WORKGROUP) {
        if (histogram[i] != 0u) atomic_add(address_at(counts, i, 2u), histogram[i]);
    }
    if (tries) upper_publish(tried);
    release_fence();
    barrier();
    if (self == 0u) {
        last = atomic_add(ended, 1u) == groups - 1u;
        made = 0u;
    }
    barrier();
    if (!last) return;
    acquire_fence();
    uint full = n / CHUNK, tried_groups = (groups + TRIED_ONE_OF - 1u) / TRIED_ONE_OF;
    uint keys_tried = WORKGROUP * (full / groups * tried_groups + (full % groups + TRIED_ONE_OF - 1u) / TRIED_ONE_OF);
    if (uppers != 0u) upper_spread(tried, keys_tried);
    // Each lane does `each` consecutive digits of a pass.
    uint each = max(RADIX / WORKGROUP, 1u);
    bool cares = self * each < RADIX;
    for (uint p = 0u; p < passes; p++) {
        uint own = 0u;
        for (uint k = 0u; k < each; k++) {
            if (cares) own += atomic_load(address_at(counts, p * RADIX + self * each + k, 2u));
        }
        uint before = subgroupExclusiveAdd(own);
        if (gl_SubgroupInvocationID == gl_SubgroupSize - 1u) sums[gl_SubgroupID] = before + own;
        barrier();
        for (uint i = 0u; i < SUBGROUPS; i++) before += i < gl_SubgroupID ? sums[i] : 0u;
        for (uint k = 0u; k < each; k++) {
            if (!cares) continue;
            uvec2 at = address_at(counts, p * RADIX + self * each + k, 2u);
            uint number = atomic_load(at);
            atomic_store(at, before);
            if (number != 0u && number != n) atomicOr(made, 1u << p);
            before += number;
            if (uppers != 0u) upper_count(p, number, n);
        }
        barrier();
    }
    // At least one step is needed, because it writes the output.
    uint wanted = made == 0u ? 1u : made;
    uint upper = uppers != 0u ? upper_passes(wanted, keys_tried, n) : 0u;
    uint first = uint(findLSB(upper != 0u ? upper : wanted));
    for (uint k = 0u; k < each; k++) {
        if (!cares || publishes == 0u) continue;
        uint place = atomic_load(address_at(counts, first * RADIX + self * each + k, 2u));
        plain_store_near(published, self * each + k, FIRST_PLACE | place);
    }
    if (self != 0u) return;
    note_steps(upper != 0u ? 0u : wanted, STEPS_AT, DIGITS, false);
    if (uppers == 0u) return;
    note_steps(upper, UPPER_STEPS_AT, UPPER_STEPS, true);
    note_steps(wanted, SPARE_STEPS_AT, DIGITS, false);
    uint first_bit = digit_at(first) & 0xffu;
    plain_store_near(steps, LOCAL_STEP_AT,
        upper == 0u ? 0u : LOCAL_MADE | first_bit | uint(findLSB(wanted)) << LOCAL_FIRST_AT);
}
