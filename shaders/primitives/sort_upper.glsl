// Upper digits: whether those of wide keys nearly tell them apart, which is estimated while digits are counted.
//
// If digits have nothing to do with one another, the chance that two keys have the same upper ones is the product of
// those of each digit. But they may have: ids that are hashed, times that come in bursts. So of some keys the bits from
// each digit on are hashed into buckets, too. Keys that come alone fill these evenly: the variance of their numbers is
// their mean. Where a key has L others of its upper digits, it is larger by L times the share of keys that are tried.
//
// For sort_histogram.comp, which has WORKGROUP lanes call these functions together.
#ifndef VKDS_SORT_UPPER_GLSL
#define VKDS_SORT_UPPER_GLSL

#include "hash.glsl"
#include "sort_plan.glsl"

// The lowest of upper digits may be so many ones: two passes are to be saved.
const uint LOWEST_UPPER = 2u;
const uint TRIED_DIGITS = DIGITS - 1u - LOWEST_UPPER;

const uint TRIED_ONE_OF = 2u;   // workgroups, and of these one of 8 keys

// In a key's run besides it, on average, if digits have nothing to do with one another: with more of them one more pass
// is faster (docs/benchmarks.md).
const float MOST_EXPECTED = 2.5;
const float MOST_FOUND = 12.0;   // by the buckets: 30 of them take as long as passes do
const float BY_CHANCE = 1.5;     // of the variance over the mean: 5 deviations above 1

const float ALIKE_ONE = 16777216.0;
const float SPREAD_ONE = 16.0;

shared uint alike[DIGITS];            // the chance that two keys have the same digit, by ALIKE_ONE
shared uint buckets[TRIED_DIGITS * RADIX];
shared uint spread[TRIED_DIGITS];     // the sum of the buckets' variances over their mean, by SPREAD_ONE

void upper_begin() {
    for (uint i = workgroup_lane(); i < TRIED_DIGITS * RADIX; i += WORKGROUP) buckets[i] = 0u;
    for (uint i = workgroup_lane(); i < TRIED_DIGITS; i += WORKGROUP) spread[i] = 0u;
    for (uint i = workgroup_lane(); i < DIGITS; i += WORKGROUP) alike[i] = 0u;
}

bool upper_tries(uint group) { return group % TRIED_ONE_OF == 0u; }

// Tries a key: its bits from digit LOWEST_UPPER + t on go into row t of the buckets.
void upper_try(uint t, uvec2 bits) { atomicAdd(buckets[t * RADIX + (hash_mix(bits) & (RADIX - 1u))], 1u); }

void upper_publish(uvec2 tried) {
    for (uint i = workgroup_lane(); i < TRIED_DIGITS * RADIX; i += WORKGROUP)
        if (buckets[i] != 0u) atomic_add(address_at(tried, i, 2u), buckets[i]);
}

// Of a number of keys with one digit.
void upper_count(uint digit, uint number, uint n) {
    float share = float(number) / float(max(n, 1u));
    atomicAdd(alike[digit], uint(ceil(share * share * ALIKE_ONE)));
}

// Of the buckets that all workgroups have published, for so many keys.
void upper_spread(uvec2 tried, uint keys) {
    float mean = float(max(keys, 1u)) / float(RADIX);
    for (uint i = workgroup_lane(); i < TRIED_DIGITS * RADIX; i += WORKGROUP) {
        float off = float(atomic_load(address_at(tried, i, 2u))) - mean;
        atomicAdd(spread[i / RADIX], uint(min(off * off / mean, 100000.0) * SPREAD_ONE));
    }
}

// Whether a key has too many others of its digits from this one on, of n of which so many were tried.
bool upper_crowded(uint digit, uint keys, uint n) {
    if (digit < LOWEST_UPPER || digit >= LOWEST_UPPER + TRIED_DIGITS) return true;
    float over = float(spread[digit - LOWEST_UPPER]) / (SPREAD_ONE * float(RADIX));
    return over > BY_CHANCE + MOST_FOUND * float(keys) / float(n);
}

#endif
