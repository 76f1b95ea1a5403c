// Look-back of a sort: the places of a tile's digits in the output, from the counts that earlier tiles have published
// (Adinets and Merrill, Onesweep, 2022). look_back.glsl does the same for one sum per part.
//
// sort_scatter.comp includes this header, and has the published words.
#ifndef VKDS_SORT_LOOK_BACK_GLSL
#define VKDS_SORT_LOOK_BACK_GLSL

#include "sort_tile.glsl"

layout(constant_id = 18) const uint PATIENCE = 1024;   // reads of a tile that has not published

// A published word is 0 at first. Below 2^31 it is the tile's count plus 1. With the highest bit it is the count of the
// tile and all before it.
const uint INCLUSIVE = 0x80000000u;
const uint NOWHERE = ~0u;

shared uint stuck;   // the greatest row that a lane has waited for too long; 0: none

const uint LOOKS = 4u;   // the number of tiles that are read at a time

// Row 0 comes before the first tile's row.
uvec2 word_of(uint row, uint digit) { return address_at(published, row * RADIX + digit, 2u); }

// Publishes the tile's numbers of keys with this lane's digits, unless they are published already.
void publish(uint tile, uint totals[RADIX_LANE_DIGITS]) {
    OVER_DIGITS for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        if (radix_cares()) atomic_cas(word_of(tile + 1u, workgroup_lane() * RADIX_LANE_DIGITS + k), 0u, totals[k] + 1u);
    }
}

// Counts and publishes a tile's digits for a workgroup that has begun the tile but not published it. radix_room has the
// elements of this workgroup's own tile, so it counts in `bases`, which are not in use yet.
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

// Adds up the number of keys with a digit from row `row` backwards, as far as the rows are published. `row` becomes
// NOWHERE if all are counted, otherwise the row that is not published.
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

// Computes for each of this lane's digits the place in the output of the tile's first key: the digit's first place plus
// the number of keys in earlier tiles. It is bounded: if a lane has waited too long, the workgroup counts the tile that
// the lane waits for.
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
