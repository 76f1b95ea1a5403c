// Counts the digits of all passes of a sort in one reading of the keys. The workgroup that ends last turns the counts
// into each digit's first place in the output, and says which steps are made. Also clears what the first of them
// publishes into.
#version 460
#extension GL_GOOGLE_include_directive : require
#define RADIX_ELEMENTS_ONLY
#include "radix.glsl"
#include "length.glsl"
#include "sort_plan.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 counts;      // RADIX words a digit of the key, zero; then the first places
    uvec2 ended;       // a word, zero: the workgroups that have ended
    uvec2 published;   // of the first step: the first places, then so many words to clear
    uvec2 steps;       // the plan, out
    uint publishes;
    uint passes;                // one or more
    uint digits[DIGITS / 2u];   // of the passes, two a word
    uint uppers;                // the passes by upper digits, at most; 0: there is no local sort
    Length length;
};

const uint STEP = 8u;   // keys of a lane that are loaded at a time
const uint CHUNK = WORKGROUP * STEP;

const float ALIKE_ONE = 16777216.0;
const float LOCAL_OTHERS = 2.5;   // in a key's run: with more of them one more pass is faster (docs/benchmarks.md)

shared uint histogram[DIGITS * RADIX];
shared uint sums[SUBGROUPS];
shared uint made;            // bit p: the keys differ in digit p
shared uint alike[DIGITS];   // how many of 2^24 pairs of keys have the same digit
shared bool last;

uint digit_at(uint p) { return digits[p / 2u] >> (p % 2u * 16u) & 0xffffu; }

// Notes the steps at word `at`, for those passes whose bit is set. Each writes what the next one reads, and the last
// one the output; or, with `turned`, what a local sort reads.
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

// The uppermost passes that leave to a local sort short runs of equal digits alone, if digits have nothing to do with
// one another and two passes or more are saved by it; 0: there are none.
uint upper_passes(uint wanted, uint n) {
    float others = float(n);   // keys whose digits are the same as one's
    uint upper = 0u;
    for (uint p = passes; p-- > 0u;) {
        uint below = wanted & ((1u << p) - 1u);
        if (bitCount(below) < 2 || uint(bitCount(upper)) == min(uppers, UPPER_STEPS)) return 0u;
        upper |= wanted & 1u << p;
        if ((wanted >> p & 1u) != 0u) others *= float(alike[p]) / ALIKE_ONE;
        if (others < LOCAL_OTHERS) return upper;
    }
    return 0u;
}

void main() {
    uint self = workgroup_lane();
    uint groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    uint group = workgroup_index();
    for (uint i = self; i < passes * RADIX; i += WORKGROUP) histogram[i] = 0u;
    for (uint p = self; p < passes; p += WORKGROUP) alike[p] = 0u;
    for (uint i = group * WORKGROUP + self; i < publishes; i += groups * WORKGROUP)
        plain_store_near(published, RADIX + i, 0u);
    barrier();

    uint n = length_of(length);
    uint chunks = n / CHUNK + (n % CHUNK != 0u ? 1u : 0u);
    for (uint chunk = group; chunk < chunks; chunk += groups) {
        uint first = chunk * CHUNK, left = n - first;
        K key[STEP];
        [[unroll]] for (uint k = 0u; k < STEP; k++) key[k] = radix_load(keys, first, self + k * WORKGROUP, left);
        // A lane whose keys have the same digit counts them at once: as in the upper digits of small numbers, where all
        // lanes would queue at one counter.
        if (left >= CHUNK) {
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
    release_fence();
    barrier();
    if (self == 0u) {
        last = atomic_add(ended, 1u) == groups - 1u;
        made = 0u;
    }
    barrier();
    if (!last) return;
    acquire_fence();
    // A lane sums WORKGROUP-th parts of a pass's digits.
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
            float share = float(number) / float(max(n, 1u));
            if (uppers != 0u) atomicAdd(alike[p], uint(ceil(share * share * ALIKE_ONE)));
        }
        barrier();
    }
    // One step at least: the output is written by it.
    uint wanted = made == 0u ? 1u : made;
    uint upper = uppers != 0u ? upper_passes(wanted, n) : 0u;
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
