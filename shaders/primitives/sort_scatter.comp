// One pass of a sort: brings the elements into the order of a digit, stably. A workgroup moves a tile.
//
// LOOK_BACK: where a tile's elements go is found by looking back at the tiles before (sort_look_back.glsl). Otherwise
// it has been counted and summed before. PAIRS: keys with values. VKDS_ROLLED: for CPU devices.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "radix.glsl"
#include "length.glsl"

layout(constant_id = 18) const uint PATIENCE = 1024;   // looks at a tile that has not published
layout(constant_id = 19) const uint FAR = 1;           // 0: no word of the output is 2^29 words from its first

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 values;
    uvec2 out_keys;
    uvec2 out_values;
#ifdef LOOK_BACK
    uvec2 published;   // of each tile: a word a digit, zero; before them, of each digit, the first place in the output
    uvec2 spare;       // the same for the next pass: made ready for it
    uvec2 places;      // of the next pass's digits: the first places in the output
    uvec2 taken;       // a word, zero: the tiles that have begun
#else
    uvec2 digit_totals;   // of each digit
    uvec2 counts;      // of each digit, a row of `tiles` words: how many are in the tiles before
#endif
    uint tiles;        // at most
    uint digit_at;     // the digit: shift, and its mask from bit 16 on
    Length length;
};

shared uint bases[RADIX];          // of a digit: first place in the output, less the first place in the tile
shared uint number;

const uint STEP = ITEMS % 4u == 0u ? 4u : 2u;

// Beyond the end there are keys of all ones: they come last, and are not written.
uint key_of(uvec2 from, uint i, uint count) {
    return plain_load_near(from, min(i, count - 1u)) | (i < count ? 0u : ~0u);
}

void store_at(uvec2 to, uint i, uint word) {
    if (FAR != 0u) plain_store_at(to, i, word);
    else plain_store_near(to, i, word);
}

uint digit_of(uint key) { return radix_digit(key, digit_at & 0xffffu, digit_at >> 16); }

#ifdef LOOK_BACK
#include "sort_look_back.glsl"
#endif

void main() {
    uint self = workgroup_lane();
    uint n = length_of(length);
#ifdef LOOK_BACK
    // Tiles are taken in order, so that those before a tile have begun.
    if (self == 0u) {
        number = atomic_add(taken, 1u);
        stuck = 0u;
    }
    radix_clear();
    uint tile = number;
#else
    uint tile = workgroup_index();
    radix_clear();
#endif
    uint base = tile * RADIX_TILE;
    bool any = tile < tiles && base < n;
#ifdef LOOK_BACK
    if (tile < tiles) {
        for (uint d = self; d < RADIX; d += WORKGROUP) {
            plain_store_at(spare, (tile + 1u) * RADIX + d, 0u);
            if (tile == 0u) plain_store_at(spare, d, INCLUSIVE | plain_load_at(places, d));
        }
    }
#endif
    if (!any) return;

    uint count = n - base;
    uvec2 from = address_at(keys, base, 2u);
    uint items[ITEMS];
    OVER_ITEMS for (uint j = 0u; j < ITEMS; j++) items[j] = key_of(from, radix_element(j), count);
    // Two ranks a word: registers decide how many tiles are under way.
    uint ranks[ITEMS / 2u];
    OVER_ITEMS for (uint j = 0u; j < ITEMS; j += 2u) {
        uint rank = radix_rank(digit_of(items[j]));
        ranks[j / 2u] = rank | radix_rank(digit_of(items[j + 1u])) << 16;
    }
    barrier();

    uint totals[RADIX_LANE_DIGITS];
    radix_totals(totals);
    uint starts[RADIX_LANE_DIGITS];
    OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) starts[k] = totals[k];
#ifdef LOOK_BACK
    OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        if (radix_cares()) atomic_cas(word_of(tile + 1u, self * RADIX_LANE_DIGITS + k), 0u, totals[k] + 1u);
    }
#endif
    radix_scan(starts);
    radix_places(starts);
    OVER_ITEMS for (uint j = 0u; j < ITEMS; j++) ranks[j / 2u] += radix_place(digit_of(items[j])) << (16u * (j % 2u));
    barrier();

    uint before[RADIX_LANE_DIGITS];
#ifdef LOOK_BACK
    look_back(tile, n, before);
    OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        uint digit = self * RADIX_LANE_DIGITS + k;
        if (radix_cares()) {
            atomic_store(word_of(tile + 1u, digit), INCLUSIVE | (before[k] + totals[k]));
            bases[digit] = before[k] - starts[k];
        }
    }
#else
    OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        before[k] = 0u;
        if (radix_cares()) before[k] = plain_load(address_at(digit_totals, self * RADIX_LANE_DIGITS + k, 2u));
    }
    radix_scan(before);
    OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        uint digit = self * RADIX_LANE_DIGITS + k;
        if (radix_cares())
            bases[digit] = before[k] + plain_load(address_at(counts, digit * tiles + tile, 2u)) - starts[k];
    }
#endif

#ifdef PAIRS
    from = address_at(values, base, 2u);
#endif
    // Through shared memory, so that neighbours in the output are written by neighbouring lanes.
    OVER_ITEMS for (uint j = 0u; j < ITEMS; j++) {
        uint place = (ranks[j / 2u] >> (16u * (j % 2u))) & 0xffffu;
        radix_room[place] = items[j];
#ifdef PAIRS
        radix_room[RADIX_TILE + place] = plain_load_near(from, min(radix_element(j), count - 1u));
#endif
    }
    barrier();
    // Unrolled in part: a kernel has to stay within the instruction cache.
    [[dont_unroll]] for (uint j = 0u; j < ITEMS; j += STEP) {
        [[unroll]] for (uint k = 0u; k < STEP; k++) {
            uint i = self + (j + k) * WORKGROUP;
            uint key = radix_room[i];
            uint target = bases[digit_of(key)] + i;
            if (i < count) store_at(out_keys, target, key);
#ifdef PAIRS
            if (i < count) store_at(out_values, target, radix_room[RADIX_TILE + i]);
#endif
        }
    }
}
