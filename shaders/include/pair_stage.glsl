// Stage: collects pairs in shared memory and writes them to two arrays, of keys and of values. Pairs are written as
// whole quads, and by all tiles of a subgroup at a time. Stores of single words by each tile alone take longer than all
// the rest of a range query. The arrays must be aligned to 16 bytes: otherwise GPUs write quads to another address.
//
// The stage of a tile is a window that moves forward over the arrays: pairs must come in the order of their places.
//
// Votes keep the lanes of a subgroup together, with memory barriers around them. A control barrier can't be used:
// lavapipe (Mesa 25.0) makes one of a subgroup into one of the whole workgroup, which must not be in these loops.
#ifndef VKDS_PAIR_STAGE_GLSL
#define VKDS_PAIR_STAGE_GLSL

#include "tile.glsl"
#include "width.glsl"
#include "workgroup.glsl"

const uint STAGE_QUADS = 12u;   // of a tile, in each of the two arrays; more shared memory leaves less for the cache
const uint STAGE_MOST = VKDS_PER_QUAD * STAGE_QUADS;
const uint STAGE_GAP = 3u * VKDS_PER_QUAD;   // the most unused places that a stage skips without being written

// Tiles of one lane are for CPU devices, and write their pairs directly.
const bool STAGED = TILE >= 2u;
const uint STAGES = STAGED ? WORKGROUP / TILE : 1u;
shared K staged_keys[STAGES * STAGE_MOST];
shared V staged_values[STAGES * STAGE_MOST];

// A tile's stage. The same for all lanes of the tile.
struct Stage {
    uint begin;   // the stage's places from begin to end are pairs, or unused places that may be written with anything
    uint end;
    uint to;      // the quad of the arrays that the stage's first quad is written to
};

uint stage_first() { return STAGED ? workgroup_lane() / TILE * STAGE_MOST : 0u; }   // places before the tile's

// An empty stage for pairs from a place of the arrays on.
Stage stage_at(uint place) {
    return Stage(place & (VKDS_PER_QUAD - 1u), place & (VKDS_PER_QUAD - 1u), place >> VKDS_QUAD_LOG);
}

// The place in the arrays of the next pair.
uint stage_place(Stage s) { return VKDS_PER_QUAD * s.to + s.end; }

// If `turn`, moves the stage's end to `place`, which must not be before it. `over` places after the end may be written
// with anything. Returns false if the place is too far for that: the caller must then write the stage and begin another
// one there (stage_at).
bool stage_turn(inout Stage s, uint place, uint over, bool turn) {
    uint end = place - VKDS_PER_QUAD * s.to;
    bool near = end - s.end <= min(over, STAGE_GAP) && end <= STAGE_MOST;
    if (turn && near) s.end = end;
    return near || !turn;
}

// Puts a pair of this lane into the stage, as the nth of the next pairs.
void stage_put(Stage s, uint nth, P pair) {
    uint at = stage_first() + s.end + nth;
    staged_keys[at] = pair.VKDS_KEY;
    staged_values[at] = pair.VKDS_VALUE;
}

// Puts a pair as stage_put does. Tiles of one lane write it to the arrays, if its place is below `room`.
void pair_put(uvec2 keys, uvec2 values, uint room, Stage s, uint nth, P pair) {
    uint at = stage_place(s) + nth;
    if (STAGED) stage_put(s, nth, pair);
    if (!STAGED && at < room) {
        VKDS_STORE(address_at(keys, at, VKDS_SHIFT), pair.VKDS_KEY);
        VKDS_STORE(address_at(values, at, VKDS_SHIFT), pair.VKDS_VALUE);
    }
}

// Whether the stage has no room for so many more pairs.
bool stage_full(Stage s, uint pairs) { return s.end + pairs > STAGE_MOST; }

void stage_barrier() {
    memoryBarrier(gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}

// A quad of staged keys or values from a place on; VKDS_STAGE_OF is one key or value of it.
#if VKDS_WIDE
uvec4 stage_keys(uint at) { return uvec4(staged_keys[at], staged_keys[at + 1u]); }
uvec4 stage_values(uint at) { return uvec4(staged_values[at], staged_values[at + 1u]); }
#define VKDS_STAGE_OF(Q, I) (I == 0u ? Q.xy : Q.zw)
#else
uvec4 stage_keys(uint word) {
    return uvec4(staged_keys[word], staged_keys[word + 1u], staged_keys[word + 2u], staged_keys[word + 3u]);
}
uvec4 stage_values(uint word) {
    return uvec4(staged_values[word], staged_values[word + 1u], staged_values[word + 2u], staged_values[word + 3u]);
}
#define VKDS_STAGE_OF(Q, I) Q[I]
#endif

// Writes the stages of the tiles with `write` to the arrays. If not `all`, only whole quads are written, and the rest
// stays. No place from `room` on is written. `spare` promises that ranges of places are whole quads, that there is room
// for all pairs, and that the rest of the last quad may be written with anything. Collective.
void stage_write(uvec2 keys, uvec2 values, uint room, bool spare, bool write, bool all, inout Stage s) {
    if (subgroupAny(write)) {
        stage_barrier();
        uint first = stage_first();
        uint quads = !write || s.end <= s.begin ? 0u : all ? (s.end + (VKDS_PER_QUAD - 1u)) >> VKDS_QUAD_LOG
                     : s.end >> VKDS_QUAD_LOG;
        uint q = tile_lane();
        while (subgroupAny(q < quads)) {
            uint at = VKDS_PER_QUAD * min(q, STAGE_QUADS - 1u), to = s.to + q;
            uvec4 k = stage_keys(first + at), v = stage_values(first + at);
            bool mine = q < quads;
            bool whole = spare || (at >= s.begin && at + VKDS_PER_QUAD <= s.end
                                   && VKDS_PER_QUAD * to + VKDS_PER_QUAD <= room);
            if (mine && whole) {
                plain_store4(address_at(keys, to, 4u), k);
                plain_store4(address_at(values, to, 4u), v);
            }
            if (mine && !whole) {
                [[unroll]] for (uint w = 0u; w < VKDS_PER_QUAD; w++) {
                    if (at + w >= s.begin && at + w < s.end && VKDS_PER_QUAD * to + w < room) {
                        VKDS_STORE(address_at(keys, VKDS_PER_QUAD * to + w, VKDS_SHIFT), VKDS_STAGE_OF(k, w));
                        VKDS_STORE(address_at(values, VKDS_PER_QUAD * to + w, VKDS_SHIFT), VKDS_STAGE_OF(v, w));
                    }
                }
            }
            q += TILE;
        }
        // The rest moves to the beginning of the stage.
        if (quads != 0u && !all && tile_lane() == 0u) {
            uint rest = first + VKDS_PER_QUAD * min(quads, STAGE_QUADS - 1u);
            uvec4 k = stage_keys(rest), v = stage_values(rest);
            [[unroll]] for (uint w = 0u; w < VKDS_PER_QUAD; w++) {
                staged_keys[first + w] = VKDS_STAGE_OF(k, w);
                staged_values[first + w] = VKDS_STAGE_OF(v, w);
            }
        }
        s.begin = quads != 0u ? 0u : s.begin;
        s.end -= min(s.end, VKDS_PER_QUAD * quads);
        s.to += quads;
        stage_barrier();
    }
}

#endif
