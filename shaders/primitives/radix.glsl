// Radix: ranks the keys of a workgroup by one digit, stably.
//
// A workgroup has a tile of WORKGROUP * ITEMS keys, ITEMS per lane. Item j of a lane is element radix_element(j) of the
// tile, so that a subgroup's loads are consecutive. Each subgroup counts its digits in a row of shared memory. Prefix
// sums over rows and digits turn the counts into places. Lanes with equal digits find one another, and take consecutive
// places (Adinets and Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, 2022, section 4): in
// subgroups of up to 32 lanes, each lane sets its bit in a word of its digit; wider ones compare digits by eight
// ballots. Counting comes first, so that a tile can publish its counts long before it needs those of others.
//
// The functions are collective over the workgroup. Define RADIX_ELEMENTS_ONLY for the layout of tiles without the
// ranking and its shared memory. Define RADIX_ROOM_WORDS as the number of words of shared memory that the kernel needs
// for each element; without it there are none.
#ifndef VKDS_RADIX_GLSL
#define VKDS_RADIX_GLSL

#include "key.glsl"
#include "unroll.glsl"
#include "workgroup.glsl"

layout(constant_id = 16) const uint SUBGROUPS = 4;   // per workgroup: WORKGROUP / subgroup size
layout(constant_id = 17) const uint ITEMS = 16;      // per lane; even

layout(constant_id = 19) const uint FAR = 1;         // 0: all elements of an array are within 2^31 bytes

// On a GPU, the compiler decides whether to unroll loops over a lane's digits.
#ifdef VKDS_ROLLED
#define OVER_DIGITS [[dont_unroll]]
#else
#define OVER_DIGITS
#endif

const uint RADIX = 256u;   // the number of values of a digit
const uint RADIX_TILE = WORKGROUP * ITEMS;

const uint RADIX_STRIDE = WORKGROUP / SUBGROUPS;   // the distance of two items of a lane: a subgroup

uint radix_element(uint j) { return gl_SubgroupID * RADIX_STRIDE * ITEMS + j * RADIX_STRIDE + gl_SubgroupInvocationID; }

// Key `i` of the `count` keys that begin at key `base` of an array, or the last of them.
K radix_load(uvec2 array, uint base, uint i, uint count) {
    if (FAR != 0u) return key_load_near(address_at(array, base, KEY_SHIFT), min(i, count - 1u));
    return key_load_near(array, min(base + i, base + count - 1u));
}

#ifndef RADIX_ELEMENTS_ONLY

// Each lane does RADIX_LANE_DIGITS consecutive digits. If the workgroup has more lanes than there are digits, the last
// lanes do none.
const uint RADIX_LANE_DIGITS = WORKGROUP < RADIX ? RADIX / WORKGROUP : 1u;

// For each subgroup and digit the number of keys, and later the next place. A second half has a word for each of these:
// the lanes that have the digit, while they are ranked. After their last use, and before the next radix_clear, the
// kernel may use this memory for the tile's keys and values: shared memory, too, limits the number of tiles in flight.
#ifndef RADIX_ROOM_WORDS
#define RADIX_ROOM_WORDS 0u
#endif
const bool RADIX_MATCHES = RADIX_STRIDE <= 32u;   // a word has a bit for each lane of a subgroup
const uint RADIX_COUNTERS = SUBGROUPS * RADIX * (RADIX_MATCHES ? 2u : 1u);
const uint RADIX_ROOM =
    RADIX_COUNTERS > RADIX_ROOM_WORDS * RADIX_TILE ? RADIX_COUNTERS : RADIX_ROOM_WORDS * RADIX_TILE;
shared uint radix_room[RADIX_ROOM];
shared uint radix_sums[SUBGROUPS];

bool radix_cares() { return workgroup_lane() * RADIX_LANE_DIGITS < RADIX; }

void radix_clear() {
    for (uint i = workgroup_lane(); i < RADIX_COUNTERS; i += WORKGROUP) radix_room[i] = 0u;
    barrier();
}

void radix_count(uint digit, uint items) { atomicAdd(radix_room[gl_SubgroupID * RADIX + digit], items); }

void radix_subgroup_barrier() {
    controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}

// Exclusive prefix sums over the digits of the workgroup. Each lane passes the numbers of its digits.
void radix_scan(inout uint numbers[RADIX_LANE_DIGITS]) {
    uint own = 0u;
    OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        uint number = numbers[k];
        numbers[k] = own;
        own += number;
    }
    uint before = subgroupExclusiveAdd(own);
    if (gl_SubgroupInvocationID == gl_SubgroupSize - 1u) radix_sums[gl_SubgroupID] = before + own;
    barrier();
    // There are few subgroups, so every lane adds up the sums of those before its own.
    for (uint i = 0u; i < SUBGROUPS; i++) before += i < gl_SubgroupID ? radix_sums[i] : 0u;
    OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) numbers[k] += before;
    barrier();
}

// The number of the tile's keys with each of this lane's digits. A barrier must come before, after the last
// radix_count.
void radix_totals(out uint totals[RADIX_LANE_DIGITS]) {
    uint first = workgroup_lane() * RADIX_LANE_DIGITS;
    OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        totals[k] = 0u;
        if (radix_cares()) {
            OVER_DIGITS for (uint s = 0u; s < SUBGROUPS; s++) totals[k] += radix_room[s * RADIX + first + k];
        }
    }
}

// Turns the counts into each subgroup's first place for each digit. `starts` are the digits' first places in the tile.
void radix_places(uint starts[RADIX_LANE_DIGITS]) {
    uint first = workgroup_lane() * RADIX_LANE_DIGITS;
    if (radix_cares()) {
        OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
            uint place = starts[k];
            OVER_DIGITS for (uint s = 0u; s < SUBGROUPS; s++) {
                uint count = radix_room[s * RADIX + first + k];
                radix_room[s * RADIX + first + k] = place;
                place += count;
            }
        }
    }
    barrier();
}

// An item's place in the tile's order. Call it for the items 0, 1, … in order, after radix_places.
uint radix_rank(uint digit) {
    uint lane = gl_SubgroupInvocationID;
    uint at = gl_SubgroupID * RADIX + digit, peers_at = SUBGROUPS * RADIX + at;
    uint below;    // the number of lanes before this one with the same digit
    bool newest;   // no later lane has the digit
    if (RADIX_MATCHES) {
        uint bit = 1u << lane;
        atomicOr(radix_room[peers_at], bit);
        radix_subgroup_barrier();
        uint peers = radix_room[peers_at];
        below = bitCount(peers & bit - 1u);
        newest = peers >> lane == 1u;
    } else {
        uvec4 peers = subgroupBallot(true);
        [[unroll]] for (uint b = 0u; b < 8u; b++) {
            bool set = (digit & (1u << b)) != 0u;
            uvec4 ballot = subgroupBallot(set);
            peers &= set ? ballot : ~ballot;
        }
        below = subgroupBallotExclusiveBitCount(peers);
        newest = below + 1u == subgroupBallotBitCount(peers);
    }
    uint rank = radix_room[at] + below;
    radix_subgroup_barrier();
    if (newest) {
        radix_room[at] = rank + 1u;
        if (RADIX_MATCHES) radix_room[peers_at] = 0u;
    }
    radix_subgroup_barrier();
    return rank;
}

#endif

#endif
