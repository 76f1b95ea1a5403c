// Sort tile: the tile of a sort's pass that a workgroup has. Its elements are ranked by the pass's digit, and go to
// where the kernel has found that the tile's share of each digit goes.
//
// The kernel that includes this has in its push constants
//
//     uvec2 keys, values;          // values if PAIRS is defined
//     uvec2 out_keys, out_values;
//     uint digit_at;               // the digit: shift, and its mask from bit 16 on
#ifndef VKDS_SORT_TILE_GLSL
#define VKDS_SORT_TILE_GLSL

#include "radix.glsl"

// A word has the ranks of two items: registers decide how many tiles are under way.
const uint RANK_WORDS = ITEMS / 2u;
const uint STEP = ITEMS % 4u == 0u ? 4u : 2u;

// Where items are many, registers decide in the loads, too: those of a whole tile differ from one address by constants.
// Of few, that is 1% slower on an H200; values that are all loaded before one is stored are 14% slower there.
const bool FEW = ITEMS <= 8u;

shared uint bases[RADIX];   // of a digit: first place in the output, less the first place in the tile

void store_at(uvec2 to, uint i, uint word) {
    if (FAR != 0u) plain_store_at(to, i, word);
    else plain_store_near(to, i, word);
}

uint digit_of(uint key) { return radix_digit(key, digit_at & 0xffffu, digit_at >> 16); }

// Loads the lane's words of a tile of an array, which has `count` from the tile's first on. Beyond them there are words
// of all ones: as keys they come last, and none of them is written.
void tile_load(uvec2 array, uint base, uint count, out uint items[ITEMS]) {
    uvec2 from = address_at(array, base + radix_element(0u), 2u);
    if (FEW) {
        OVER_ITEMS for (uint j = 0u; j < ITEMS; j++) {
            uint i = radix_element(j);
            items[j] = radix_load(array, base, i, count) | (i < count ? 0u : ~0u);
        }
    } else if (count >= RADIX_TILE) {
        OVER_ITEMS for (uint j = 0u; j < ITEMS; j++) items[j] = plain_load_near(from, j * RADIX_STRIDE);
    } else {
        OVER_ITEMS for (uint j = 0u; j < ITEMS; j++) {
            items[j] = ~0u;
            if (radix_element(j) < count) items[j] = plain_load_near(from, j * RADIX_STRIDE);
        }
    }
}

// The keys' ranks among those of the subgroup, and how many keys the tile has of the lane's digits.
void tile_rank(uint items[ITEMS], out uint ranks[RANK_WORDS], out uint totals[RADIX_LANE_DIGITS]) {
    OVER_ITEMS for (uint j = 0u; j < ITEMS; j += 2u) {
        uint rank = radix_rank(digit_of(items[j]));
        ranks[j / 2u] = rank | radix_rank(digit_of(items[j + 1u])) << 16;
    }
    barrier();
    radix_totals(totals);
}

// Turns ranks into places in the tile's order, of which `starts` becomes the first of each of the lane's digits.
void tile_places(uint items[ITEMS], uint totals[RADIX_LANE_DIGITS], inout uint ranks[RANK_WORDS],
                 out uint starts[RADIX_LANE_DIGITS]) {
    OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) starts[k] = totals[k];
    radix_scan(starts);
    radix_places(starts);
    OVER_ITEMS for (uint j = 0u; j < ITEMS; j++) ranks[j / 2u] += radix_place(digit_of(items[j])) << (16u * (j % 2u));
    barrier();
}

// Notes where a digit's elements go: from place `before` of the n of the output on. Whatever that is said to be, all of
// them lie in the output: the tile has `total` keys of the digit, of which those beyond its first `count` aren't there.
void tile_base(uint digit, uint before, uint start, uint total, uint count, uint n) {
    bases[digit] = min(before, n - min(total, count - start)) - start;
}

// Writes the tile's elements, in their order: through shared memory, so that neighbours in the output are written by
// neighbouring lanes.
void tile_scatter(uint base, uint count, uint items[ITEMS], uint ranks[RANK_WORDS]) {
    OVER_ITEMS for (uint j = 0u; j < ITEMS; j++) {
        uint place = (ranks[j / 2u] >> (16u * (j % 2u))) & 0xffffu;
        radix_room[place] = items[j];
#ifdef PAIRS
        if (FEW) radix_room[RADIX_TILE + place] = radix_load(values, base, radix_element(j), count);
#endif
    }
#ifdef PAIRS
    if (!FEW) {
        tile_load(values, base, count, items);
        OVER_ITEMS for (uint j = 0u; j < ITEMS; j++)
            radix_room[RADIX_TILE + ((ranks[j / 2u] >> (16u * (j % 2u))) & 0xffffu)] = items[j];
    }
#endif
    barrier();
    // Unrolled in part: a kernel has to stay within the instruction cache.
    [[dont_unroll]] for (uint j = 0u; j < ITEMS; j += STEP) {
        [[unroll]] for (uint k = 0u; k < STEP; k++) {
            uint i = workgroup_lane() + (j + k) * WORKGROUP;
            uint key = radix_room[i];
            uint target = bases[digit_of(key)] + i;
            if (i < count) store_at(out_keys, target, key);
#ifdef PAIRS
            if (i < count) store_at(out_values, target, radix_room[RADIX_TILE + i]);
#endif
        }
    }
}

#endif
