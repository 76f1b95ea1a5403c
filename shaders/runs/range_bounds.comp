// Finds the slice of each range in every run: where its keys begin and end.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "run_search.glsl"
#include "length.glsl"

layout(push_constant, std430) uniform Push {
    RunStack stack;
    uvec2 ranges;   // one P per range: the least and the greatest key
    uvec2 slices;   // output, two words per range and run, run after run: where the slice begins and ends. 0: not
                    // wanted
    uvec2 sizes;    // output, one word per range: the sum of its slices' sizes, at most ~0
    uvec2 zeroed;   // output, one word per range: 0. 0: not wanted
    uvec2 total;    // two words, a number of 64 bits to which all sizes are added. 0: not wanted
    Length number;  // the number of ranges. Later ones, up to the upper bound, are treated as empty
    uint each;      // ranges per invocation
};

bool wanted(uvec2 address) { return (address.x | address.y) != 0u; }

uint saturating_add(uint a, uint b) { return a + min(b, ~a); }

// Adds the sizes of the subgroup's lanes to the 64 bits at `total`. Collective over the subgroup.
void add_to_total(uint size) {
    uint low = subgroupAdd(size & 0xffffu);
    uint high = subgroupAdd(size >> 16);
    uint sum = low + (high << 16);
    uint carry = (high >> 16) + (sum < low ? 1u : 0u);
    if (gl_SubgroupInvocationID == 0u && (sum | carry) != 0u) {
        uint before = atomic_add(total, sum);
        carry += before + sum < sum ? 1u : 0u;
        if (carry != 0u) atomic_add(address_add(total, 4u), carry);
    }
}

void main() {
    uint first = workgroup_index() * WORKGROUP * each + workgroup_lane(), count = number.n, asked = length_of(number);
    uint rows = stack_rows(stack);
    uint runs = 0u;   // the number of runs with pairs, so far
    for (uint row = 0u; row < rows; row++) {
        Run run = stack_run(stack, row);
        if (run.size == 0u) continue;
        RunSearch search;
        bool cached = run_search_begin(run, 0u, run.size, search);
        for (uint q = 0u; q < each; q++) {
            uint i = first + q * WORKGROUP;
            if (!subgroupAny(i < count)) continue;
            P range = P(VKDS_ONE, K(0u));
            if (i < asked) range = VKDS_SLOT_LOAD(address_at(ranges, i, VKDS_SHIFT + 1u));
            K before = VKDS_BEFORE(VKDS_GREATER(range.VKDS_KEY, VKDS_ONE));
            uint begin, end;
            if (cached) {
                begin = run_search_upper(search, before);
                end = run_search_upper(search, range.VKDS_VALUE);
            } else {
                begin = run_upper_in(run, 0u, run.size, before);
                end = run_upper_in(run, begin, run.size, range.VKDS_VALUE);
            }
            if (range.VKDS_KEY == K(0u)) begin = 0u;
            if (VKDS_ABOVE(range.VKDS_KEY, range.VKDS_VALUE)) end = begin;
            if (i < count) {
                if (wanted(slices))
                    plain_store2(address_at(address_at(slices, runs * count, 3u), i, 3u), uvec2(begin, end));
                uvec2 size = address_at(sizes, i, 2u);
                uint before_run = runs == 0u ? 0u : plain_load(size);
                plain_store(size, saturating_add(before_run, end - begin));
            }
            if (wanted(total)) add_to_total(i < count ? end - begin : 0u);
        }
        runs++;
    }
    for (uint q = 0u; q < each; q++) {
        uint i = first + q * WORKGROUP;
        if (i >= count) break;
        if (runs == 0u) plain_store(address_at(sizes, i, 2u), 0u);
        if (wanted(zeroed)) plain_store(address_at(zeroed, i, 2u), 0u);
    }
}
