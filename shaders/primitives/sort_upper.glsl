// Upper digits: estimates, while digits are counted, whether the upper digits of wide keys almost tell the keys apart.
//
// If digits are independent, the chance that two keys have the same upper digits is the product of the chances for each
// digit. But they may not be: ids may be hashed, and times may come in bursts. So for some keys, the bits from each
// digit on are also hashed into buckets. If the keys' upper digits differ, the buckets fill evenly: the variance of
// their counts is the mean. If a key shares its upper digits with L others, the variance is larger, by L times the
// share of keys that are tried.
//
// sort_histogram.comp includes this header. Its WORKGROUP lanes call these functions together.
#ifndef VKDS_SORT_UPPER_GLSL
#define VKDS_SORT_UPPER_GLSL

#include "hash.glsl"
#include "sort_plan.glsl"

// The lowest digit that may be an upper one: at least two passes must be saved.
const uint LOWEST_UPPER = 2u;
const uint TRIED_DIGITS = DIGITS - 1u - LOWEST_UPPER;

const uint TRIED_ONE_OF = 2u;   // of this number of workgroups, one tries keys: one of 8

// The number of other keys in a key's run, on average, if digits are independent. If there are more, one more pass is
// faster (docs/notes/measurements.md).
const float MOST_EXPECTED = 2.5;
const float MOST_FOUND = 12.0;   // the same by the buckets: comparing 30 of them takes as long as the passes saved
const float BY_CHANCE = 1.5;     // the variance over the mean that is still chance: 5 deviations above 1

const float ALIKE_ONE = 16777216.0;
const float SPREAD_ONE = 16.0;

shared uint alike[DIGITS];            // the chance that two keys have the same digit, times ALIKE_ONE
shared uint buckets[TRIED_DIGITS * RADIX];
shared uint spread[TRIED_DIGITS];     // the sum of the buckets' variances over their mean, times SPREAD_ONE

void upper_begin() {
    for (uint i = workgroup_lane(); i < TRIED_DIGITS * RADIX; i += WORKGROUP) buckets[i] = 0u;
    for (uint i = workgroup_lane(); i < TRIED_DIGITS; i += WORKGROUP) spread[i] = 0u;
    for (uint i = workgroup_lane(); i < DIGITS; i += WORKGROUP) alike[i] = 0u;
}

bool upper_tries(uint group) { return group % TRIED_ONE_OF == 0u; }

// Tries a key: counts the hash of its bits from digit LOWEST_UPPER + t on in row t of the buckets.
void upper_try(uint t, uvec2 bits) { atomicAdd(buckets[t * RADIX + (hash_mix(bits) & (RADIX - 1u))], 1u); }

void upper_publish(uvec2 tried) {
    for (uint i = workgroup_lane(); i < TRIED_DIGITS * RADIX; i += WORKGROUP)
        if (buckets[i] != 0u) atomic_add(address_at(tried, i, 2u), buckets[i]);
}

// Adds the number of keys with one value of a digit to the digit's chance.
void upper_count(uint digit, uint number, uint n) {
    float share = float(number) / float(max(n, 1u));
    atomicAdd(alike[digit], uint(ceil(share * share * ALIKE_ONE)));
}

// Computes the spread of the buckets that all workgroups have published. `keys` is the number of keys tried.
void upper_spread(uvec2 tried, uint keys) {
    float mean = float(max(keys, 1u)) / float(RADIX);
    for (uint i = workgroup_lane(); i < TRIED_DIGITS * RADIX; i += WORKGROUP) {
        float off = float(atomic_load(address_at(tried, i, 2u))) - mean;
        atomicAdd(spread[i / RADIX], uint(min(off * off / mean, 100000.0) * SPREAD_ONE));
    }
}

// Whether keys share their digits from this one on with too many others. Of n keys, `keys` were tried.
bool upper_crowded(uint digit, uint keys, uint n) {
    if (digit < LOWEST_UPPER || digit >= LOWEST_UPPER + TRIED_DIGITS) return true;
    float over = float(spread[digit - LOWEST_UPPER]) / (SPREAD_ONE * float(RADIX));
    return over > BY_CHANCE + MOST_FOUND * float(keys) / float(n);
}

#endif
