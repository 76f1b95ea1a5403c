// Look-back of a sort: the places of a tile's digits in the output, from the counts that the tiles before have
// published (Adinets and Merrill, Onesweep, 2022). look_back.glsl does the same for one sum per part.
//
// For sort_scatter.comp, which has the published words.
#ifndef VKDS_SORT_LOOK_BACK_GLSL
#define VKDS_SORT_LOOK_BACK_GLSL

#include "sort_tile.glsl"

layout(constant_id = 18) const uint PATIENCE = 1024;   // looks at a tile that has not published

// A published word: 0, nothing yet; up to 2^31 - 1, one more than the tile's count; else the count of
// the tile and all before it, with the highest bit.
const uint INCLUSIVE = 0x80000000u;
const uint NOWHERE = ~0u;

shared uint stuck;   // one more than the last tile that somebody waits for too long

const uint LOOKS = 4u;   // tiles that are looked at at a time

// Row 0 stands before the first tile.
uvec2 word_of(uint row, uint digit) { return address_at(published, row * RADIX + digit, 2u); }

// Publishes how many keys a tile has of the lane's digits, unless somebody has.
void publish(uint tile, uint totals[RADIX_LANE_DIGITS]) {
    OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        if (radix_cares()) atomic_cas(word_of(tile + 1u, workgroup_lane() * RADIX_LANE_DIGITS + k), 0u, totals[k] + 1u);
    }
}

// Counts a tile's digits for the workgroup that has begun it and got no further. The room has the own tile's elements,
// so it counts where the bases will be.
void publish_for(uint tile, uint n) {
    for (uint d = workgroup_lane(); d < RADIX; d += WORKGROUP) bases[d] = 0u;
    barrier();
    uvec2 from = address_at(step_array(step, keys), tile * RADIX_TILE, KEY_SHIFT);
    VKDS_UNROLL for (uint j = 0u; j < ITEMS; j++) {
        uint i = radix_element(j);
        if (i < n - tile * RADIX_TILE) atomicAdd(bases[digit_of(key_load_near(from, i))], 1u);
    }
    barrier();
    uint totals[RADIX_LANE_DIGITS];
    OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        totals[k] = 0u;
        if (radix_cares()) totals[k] = bases[workgroup_lane() * RADIX_LANE_DIGITS + k];
    }
    publish(tile, totals);
    barrier();
}

// How many of a digit come before a tile, from row `row` on back, as far as the rows have been published: row is
// NOWHERE with all of them counted, else the row that was not published.
void look_back_for(uint digit, inout uint row, inout uint before) {
    uint looks = 0u;
    while (looks <= PATIENCE) {
        uint words[LOOKS];
        [[unroll]] for (uint w = 0u; w < LOOKS; w++) words[w] = atomic_load(word_of(max(row, w) - w, digit));
        bool published = true;
        [[unroll]] for (uint w = 0u; w < LOOKS; w++) {
            if (!published || row == NOWHERE) continue;
            if (words[w] == 0u) {
                published = false;
            } else if (words[w] >= INCLUSIVE) {
                before += words[w] - INCLUSIVE;
                row = NOWHERE;
            } else {
                before += words[w] - 1u;
                row--;
            }
        }
        if (row == NOWHERE) return;
        if (!published) {
            looks++;
            acquire_fence();
        }
    }
}

// How many of this lane's digits are in the tiles before and where the digits begin, in sum. Bounded: whoever waits for
// too long has the workgroup count the tile that is waited for.
void look_back(uint tile, uint n, out uint before[RADIX_LANE_DIGITS]) {
    uint rows[RADIX_LANE_DIGITS];
    OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        before[k] = 0u;
        rows[k] = radix_cares() ? tile : NOWHERE;
    }
    bool more = true;
    while (more) {
        uint waits = 0u;
        OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
            if (rows[k] != NOWHERE) look_back_for(workgroup_lane() * RADIX_LANE_DIGITS + k, rows[k], before[k]);
            if (rows[k] != NOWHERE) waits = max(waits, rows[k]);
        }
        if (waits != 0u) atomicMax(stuck, waits);
        barrier();
        uint late = stuck;
        barrier();
        more = late != 0u;
        if (more) {
            if (workgroup_lane() == 0u) stuck = 0u;
            publish_for(late - 1u, n);
        }
    }
}

#endif
