// One pass of a sort: brings the elements into the order of a digit, stably. A workgroup moves a tile.
//
// LOOK_BACK: where a tile's elements go is found by looking back at the counts that the tiles before have published
// (Adinets and Merrill, Onesweep, 2022). Otherwise it has been counted and summed before. PAIRS: keys with values.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "radix.glsl"
#include "length.glsl"

layout(constant_id = 5) const uint PATIENCE = 1024;   // looks at a tile that has not published

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 values;
    uvec2 out_keys;
    uvec2 out_values;
#ifdef LOOK_BACK
    uvec2 places;      // of each digit: the first place in the output
    uvec2 published;   // of each tile: a word a digit, zero at first
    uvec2 spare;       // cleared for the next pass: as many
    uvec2 taken;       // a word, zero: the tiles that have begun
#else
    uvec2 digit_totals;   // of each digit
    uvec2 counts;      // of each digit, a row of `tiles` words: how many are in the tiles before
#endif
    uint tiles;        // at most
    uint digit_at;     // the digit: shift, and its mask from bit 16 on
    Length length;
};

shared uint bases[RADIX];   // of a digit: first place in the output, less the first place in the tile
shared uint number;

uint digit_of(uint key) { return radix_digit(key, digit_at & 0xffffu, digit_at >> 16); }

#ifdef LOOK_BACK
// A published word: 0, nothing yet; up to 2^31 - 1, one more than the tile's count; else the count of
// the tile and all before it, with the highest bit.
const uint INCLUSIVE = 0x80000000u;

shared uint stuck;   // one more than the last tile that somebody waits for too long

uvec2 word_of(uint tile, uint digit) { return address_at(published, tile * RADIX + digit, 2u); }

// Counts a tile's digits for the workgroup that has begun it and got no further.
void publish_for(uint tile, uint n) {
    radix_clear();
    [[unroll]] for (uint j = 0u; j < ITEMS; j++) {
        uint i = tile * RADIX_TILE + radix_element(j);
        if (i < n) radix_count(digit_of(plain_load(address_at(keys, i, 2u))));
    }
    barrier();
    uint totals[RADIX_LANE_DIGITS];
    radix_totals(totals);
    for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        if (radix_cares()) atomic_cas(word_of(tile, radix_invocation() * RADIX_LANE_DIGITS + k), 0u, totals[k] + 1u);
    }
    barrier();
}

// How many of this lane's digits are in the tiles before, and where the digits begin. Bounded: whoever waits for too
// long has the workgroup count the tile that is waited for.
void look_back(uint tile, uint n, out uint before[RADIX_LANE_DIGITS]) {
    uint next[RADIX_LANE_DIGITS];   // one more than the tile to look at; ~0: at the end
    for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        before[k] = 0u;
        next[k] = radix_cares() ? tile : ~0u;
    }
    bool more = true;
    while (more) {
        uint waits = 0u;
        for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
            uint digit = radix_invocation() * RADIX_LANE_DIGITS + k;
            uint looks = 0u;
            while (next[k] != ~0u && looks <= PATIENCE) {
                if (next[k] == 0u) {
                    before[k] += plain_load(address_at(places, digit, 2u));
                    next[k] = ~0u;
                    break;
                }
                uint word = atomic_load(word_of(next[k] - 1u, digit));
                if (word == 0u) {
                    looks++;
                    acquire_fence();
                } else if (word >= INCLUSIVE) {
                    before[k] += word - INCLUSIVE;
                    next[k] = ~0u;
                } else {
                    before[k] += word - 1u;
                    next[k]--;
                    looks = 0u;
                }
            }
            if (next[k] != ~0u) waits = max(waits, next[k]);
        }
        if (waits != 0u) atomicMax(stuck, waits);
        barrier();
        uint late = stuck;
        barrier();
        more = late != 0u;
        if (more) {
            if (radix_invocation() == 0u) stuck = 0u;
            publish_for(late - 1u, n);
        }
    }
}
#endif

void main() {
    uint self = radix_invocation();
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
    uint tile = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    radix_clear();
#endif
    uint base = tile * RADIX_TILE;
    bool any = tile < tiles && base < n;
#ifdef LOOK_BACK
    if (tile < tiles) {
        for (uint d = self; d < RADIX; d += WORKGROUP) plain_store(address_at(spare, tile * RADIX + d, 2u), 0u);
    }
#endif
    if (!any) return;

    // Beyond the end there are keys of all ones: they come last, and are not written.
    uint items[ITEMS];
    [[unroll]] for (uint j = 0u; j < ITEMS; j++) {
        uint i = base + radix_element(j);
        items[j] = ~0u;
        if (i < n) items[j] = plain_load(address_at(keys, i, 2u));
    }
    [[unroll]] for (uint j = 0u; j < ITEMS; j++) radix_count(digit_of(items[j]));
    barrier();

    uint totals[RADIX_LANE_DIGITS];
    radix_totals(totals);
    uint starts[RADIX_LANE_DIGITS];
    for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) starts[k] = totals[k];
#ifdef LOOK_BACK
    for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        if (radix_cares()) atomic_cas(word_of(tile, self * RADIX_LANE_DIGITS + k), 0u, totals[k] + 1u);
    }
#endif
    radix_scan(starts);
    radix_places(starts);

    uint ranks[ITEMS];
    [[unroll]] for (uint j = 0u; j < ITEMS; j++) ranks[j] = radix_rank(digit_of(items[j]));
    barrier();

    uint before[RADIX_LANE_DIGITS];
#ifdef LOOK_BACK
    look_back(tile, n, before);
    for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        uint digit = self * RADIX_LANE_DIGITS + k;
        if (radix_cares()) {
            atomic_store(word_of(tile, digit), INCLUSIVE | (before[k] + totals[k]));
            bases[digit] = before[k] - starts[k];
        }
    }
#else
    for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        before[k] = 0u;
        if (radix_cares()) before[k] = plain_load(address_at(digit_totals, self * RADIX_LANE_DIGITS + k, 2u));
    }
    radix_scan(before);
    for (uint k = 0u; k < RADIX_LANE_DIGITS; k++) {
        uint digit = self * RADIX_LANE_DIGITS + k;
        if (radix_cares()) bases[digit] = before[k] + plain_load(address_at(counts, digit * tiles + tile, 2u)) - starts[k];
    }
#endif

    // Through shared memory, so that neighbours in the output are written by neighbouring lanes.
    [[unroll]] for (uint j = 0u; j < ITEMS; j++) radix_room[ranks[j]] = items[j];
    barrier();
    uint count = min(n - base, RADIX_TILE);
    uint targets[ITEMS];
    [[unroll]] for (uint j = 0u; j < ITEMS; j++) {
        uint i = self + j * WORKGROUP;
        uint key = radix_room[i];
        targets[j] = bases[digit_of(key)] + i;
        if (i < count) plain_store(address_at(out_keys, targets[j], 2u), key);
    }
#ifdef PAIRS
    [[unroll]] for (uint j = 0u; j < ITEMS; j++) {
        uint i = base + radix_element(j);
        items[j] = 0u;
        if (i < n) items[j] = plain_load(address_at(values, i, 2u));
    }
    barrier();
    [[unroll]] for (uint j = 0u; j < ITEMS; j++) radix_room[ranks[j]] = items[j];
    barrier();
    [[unroll]] for (uint j = 0u; j < ITEMS; j++) {
        uint i = self + j * WORKGROUP;
        if (i < count) plain_store(address_at(out_values, targets[j], 2u), radix_room[i]);
    }
#endif
}
