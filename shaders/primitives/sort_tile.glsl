// Sort tile: a workgroup's tile in a pass of a sort. Its elements are ranked by the pass's digit, and ordered in shared
// memory. From there they are written to the places that the kernel has found for the tile's share of each digit.
//
// The kernel that includes this header has in its push constants, for step_array:
//
//     uvec2 keys[2], values[2];   // values if PAIRS is defined: keys have values
//     uvec2 out_keys[2], out_values[2];
#ifndef VKDS_SORT_TILE_GLSL
#define VKDS_SORT_TILE_GLSL

#include "key.glsl"

// Keys go through shared memory first, and values later through the same memory. So tiles are larger, and fewer.
#if VKDS_KEY_BITS == 64
#define RADIX_ROOM_WORDS 2u
#else
#define RADIX_ROOM_WORDS 1u
#endif
#include "radix.glsl"
#include "sort_step.glsl"

uint step;                // set by the kernel
shared uint step_again;   // the same, for tile_rank

// A word has the places of two items, because registers limit the number of tiles in flight.
const uint PLACE_WORDS = ITEMS / 2u;
const uint STEP = ITEMS % 4u == 0u ? 4u : 2u;

// With many items, registers also count in loads: if a whole tile is there, all its addresses differ from one by
// constants. With few items that is 1% slower on an H200.
const bool FEW = ITEMS <= 8u;

shared uint bases[RADIX];   // for each digit, the first place in the output minus the first place in the tile

uint digit_of(K key) { return step_digit(step, key); }

uint place_of(uint places[PLACE_WORDS], uint j) { return places[j / 2u] >> 16u * (j % 2u) & 0xffffu; }

// An item in shared memory. Its high word is a tile after its low word, so that consecutive lanes use different banks.
void room_put(uint place, uint item) { radix_room[place] = item; }
void room_put(uint place, uvec2 item) {
    radix_room[place] = item.x;
    radix_room[RADIX_TILE + place] = item.y;
}
void room_get(uint place, out uint item) { item = radix_room[place]; }
void room_get(uint place, out uvec2 item) { item = uvec2(radix_room[place], radix_room[RADIX_TILE + place]); }

// Loads the lane's keys of a tile that has `count` keys. Beyond them it sets keys of all ones: these are ranked last,
// and never written.
void tile_load(uvec2 array, uint base, uint count, out K items[ITEMS]) {
    uvec2 from = address_at(array, base + radix_element(0u), KEY_SHIFT);
    if (FEW) {
        VKDS_UNROLL for (uint j = 0u; j < ITEMS; j++) {
            uint i = radix_element(j);
            items[j] = radix_load(array, base, i, count) | (i < count ? 0u : ~0u);
        }
    } else if (count >= RADIX_TILE) {
        VKDS_UNROLL for (uint j = 0u; j < ITEMS; j++) items[j] = key_load_near(from, j * RADIX_STRIDE);
    } else {
        VKDS_UNROLL for (uint j = 0u; j < ITEMS; j++) {
            items[j] = KEY_MOST;
            if (radix_element(j) < count) items[j] = key_load_near(from, j * RADIX_STRIDE);
        }
    }
}

// Counts the tile's keys with each of the lane's digits. If keys are in order already, those of a lane often have the
// same digit, and it counts them at once. radix_clear must come before.
//
// Registers limit the number of tiles in flight. So subgroup barriers keep the compiler from computing the digits of
// many items at a time, and tile_rank reads the step again, so that no digits are kept for it.
void tile_count(K items[ITEMS], out uint totals[RADIX_LANE_DIGITS]) {
    if (workgroup_lane() == 0u) step_again = step;
    K differ = K(0u);
    VKDS_UNROLL for (uint j = 1u; j < ITEMS; j++) differ |= items[0] ^ items[j];
    bool alike = digit_of(differ) == 0u;
    radix_count(digit_of(items[0]), alike ? ITEMS : 1u);
    VKDS_UNROLL for (uint j = 1u; j < ITEMS; j++) {
        if (!alike) radix_count(digit_of(items[j]), 1u);
        if (j % 4u == 3u) radix_subgroup_barrier();
    }
    barrier();
    radix_totals(totals);
}

// The items' places in the tile's order. `starts` becomes the first place of each of the lane's digits.
void tile_rank(K items[ITEMS], uint totals[RADIX_LANE_DIGITS], out uint places[PLACE_WORDS],
               out uint starts[RADIX_LANE_DIGITS]) {
    OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) starts[k] = totals[k];
    radix_scan(starts);
    radix_places(starts);
    step = step_again;
    VKDS_UNROLL for (uint j = 0u; j < ITEMS; j += 2u) {
        uint place = radix_rank(digit_of(items[j]));
        places[j / 2u] = place | radix_rank(digit_of(items[j + 1u])) << 16;
    }
    barrier();
}

// Notes where a digit's elements go: to the output's places from `before` on, of n. Whatever `before` is, they stay
// inside of the output. The tile has `total` keys with the digit; those after its first `count` keys don't count.
void tile_base(uint digit, uint before, uint start, uint total, uint count, uint n) {
    bases[digit] = min(before, n - min(total, count - start)) - start;
}

void tile_store_key(uint i, K key) {
    uvec2 to = step_array(step, out_keys);
    if (FAR != 0u) key_store_at(to, i, key);
    else key_store_near(to, i, key);
}

#ifdef PAIRS
void tile_store_value(uint i, V value) {
    uvec2 to = step_array(step, out_values);
    if (FAR != 0u) value_store_at(to, i, value);
    else value_store_near(to, i, value);
}

V carried[ITEMS];                        // the lane's values, while shared memory has the keys
shared uint digits[RADIX_TILE / STEP];   // the digits of those keys: a byte each, for the STEP keys that a lane writes

void tile_carry(uint base, uint count) {
    uvec2 from = address_at(step_array(step, values), base + radix_element(0u), VALUE_SHIFT);
    if (count >= RADIX_TILE) {
        VKDS_UNROLL for (uint j = 0u; j < ITEMS; j++) carried[j] = value_load_near(from, j * RADIX_STRIDE);
    } else {
        VKDS_UNROLL for (uint j = 0u; j < ITEMS; j++) {
            carried[j] = V(0u);
            if (radix_element(j) < count) carried[j] = value_load_near(from, j * RADIX_STRIDE);
        }
    }
}

void tile_scatter_values(uint count, uint places[PLACE_WORDS]) {
    barrier();
    VKDS_UNROLL for (uint j = 0u; j < ITEMS; j++) room_put(place_of(places, j), carried[j]);
    barrier();
    [[dont_unroll]] for (uint j = 0u; j < ITEMS; j += STEP) {
        uint packed = digits[workgroup_lane() + j / STEP * WORKGROUP];
        [[unroll]] for (uint k = 0u; k < STEP; k++) {
            uint i = workgroup_lane() + (j + k) * WORKGROUP;
            V value;
            room_get(i, value);
            if (i < count) tile_store_value(bases[packed >> 8u * k & 0xffu] + i, value);
        }
    }
}
#endif

// Brings the tile's keys into their order in shared memory.
void tile_stage(K items[ITEMS], uint places[PLACE_WORDS]) {
    VKDS_UNROLL for (uint j = 0u; j < ITEMS; j++) room_put(place_of(places, j), items[j]);
}

// Writes the tile's elements, consecutive ones by consecutive lanes. A barrier must come before.
void tile_scatter(uint base, uint count, uint places[PLACE_WORDS]) {
#ifdef PAIRS
    tile_carry(base, count);   // values arrive while keys are written
#endif
    // Only partly unrolled: a kernel must fit into the instruction cache.
    [[dont_unroll]] for (uint j = 0u; j < ITEMS; j += STEP) {
        radix_subgroup_barrier();   // without it, the compiler takes more registers
        uint packed = 0u;
        [[unroll]] for (uint k = 0u; k < STEP; k++) {
            uint i = workgroup_lane() + (j + k) * WORKGROUP;
            K key;
            room_get(i, key);
            uint digit = digit_of(key);
            packed |= digit << 8u * k;
            if (i < count) tile_store_key(bases[digit] + i, key);
        }
#ifdef PAIRS
        digits[workgroup_lane() + j / STEP * WORKGROUP] = packed;
#endif
    }
#ifdef PAIRS
    tile_scatter_values(count, places);
#endif
}

#endif
