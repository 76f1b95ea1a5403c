// Stage: pairs on their way to two arrays, of keys and of values, put together in shared memory by a tile, so that they
// are written by whole quads, and by all tiles of a subgroup at a time. Stores of single words, each tile's by itself,
// take longer than all else about a range. The arrays are aligned to 16 bytes: GPUs write quads elsewhere than asked
// for if they aren't, though CPU drivers do as they are told.
//
// The stage of a tile is a window over the arrays that goes on with what is written: pairs have to come in the order of
// their places.
//
// The lanes of a subgroup are held together by votes, with memory barriers around: a control barrier of a subgroup is
// one of the whole workgroup to lavapipe (Mesa 25.0), and not to be had in loops.
#ifndef VKDS_PAIR_STAGE_GLSL
#define VKDS_PAIR_STAGE_GLSL

#include "tile.glsl"
#include "workgroup.glsl"

const uint STAGE_QUADS = 12u;   // of a tile, in each of the two arrays; more of them take the cache's place
const uint STAGE_WORDS = 4u * STAGE_QUADS;
const uint STAGE_GAP = 12u;     // words that nobody minds are passed over within the stage up to so many

// Tiles of one lane are for CPU devices, and write their pairs as they are.
const bool STAGED = TILE >= 2u;
const uint STAGES = STAGED ? WORKGROUP / TILE : 1u;
shared uint staged_keys[STAGES * STAGE_WORDS];
shared uint staged_values[STAGES * STAGE_WORDS];

// The same for all lanes of the tile.
struct Stage {
    uint begin;   // the stage's words from begin to end are pairs, or nothing that anybody minds
    uint end;
    uint to;      // the quad of the arrays where the stage's first one goes
};

uint stage_first() { return STAGED ? workgroup_lane() / TILE * STAGE_WORDS : 0u; }   // words before the tile's

// An empty stage for pairs from a place of the arrays on.
Stage stage_at(uint place) { return Stage(place & 3u, place & 3u, place >> 2); }

// Where the next pair goes.
uint stage_place(Stage s) { return 4u * s.to + s.end; }

// Has the next pair go to a place further on, where `turn`. So many words in between may be written with anything.
// False: there are more, and what is in the stage is to be written and another one begun there.
bool stage_turn(inout Stage s, uint place, uint over, bool turn) {
    uint end = place - 4u * s.to;
    bool near = end - s.end <= min(over, STAGE_GAP) && end <= STAGE_WORDS;
    if (turn && near) s.end = end;
    return near || !turn;
}

// Puts a pair of this lane, number nth of those that come next, into the stage.
void stage_put(Stage s, uint nth, uvec2 pair) {
    uint at = stage_first() + s.end + nth;
    staged_keys[at] = pair.x;
    staged_values[at] = pair.y;
}

// Puts a pair as stage_put does; by tiles of one lane, it is written, if its place is below `room`.
void pair_put(uvec2 keys, uvec2 values, uint room, Stage s, uint nth, uvec2 pair) {
    uint at = stage_place(s) + nth;
    if (STAGED) stage_put(s, nth, pair);
    if (!STAGED && at < room) {
        plain_store(address_at(keys, at, 2u), pair.x);
        plain_store(address_at(values, at, 2u), pair.y);
    }
}

// Whether there may be no room for so many more pairs.
bool stage_full(Stage s, uint pairs) { return s.end + pairs > STAGE_WORDS; }

void stage_barrier() {
    memoryBarrier(gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}

uvec4 stage_keys(uint word) {
    return uvec4(staged_keys[word], staged_keys[word + 1u], staged_keys[word + 2u], staged_keys[word + 3u]);
}
uvec4 stage_values(uint word) {
    return uvec4(staged_values[word], staged_values[word + 1u], staged_values[word + 2u], staged_values[word + 3u]);
}

// Writes what is in the stages of the tiles that say `write`: all of it, or whole quads alone, and the rest stays. Of
// the arrays, nothing is written from `room` on. Where `spare`, all places are multiples of 4, there is room for all,
// and the rest of a last quad may be written with anything. Called between putting and putting. Collective.
void stage_write(uvec2 keys, uvec2 values, uint room, bool spare, bool write, bool all, inout Stage s) {
    if (subgroupAny(write)) {
        stage_barrier();
        uint first = stage_first();
        uint quads = !write || s.end <= s.begin ? 0u : all ? (s.end + 3u) >> 2 : s.end >> 2;
        uint q = tile_lane();
        while (subgroupAny(q < quads)) {
            uint at = 4u * min(q, STAGE_QUADS - 1u), to = s.to + q;
            uvec4 k = stage_keys(first + at), v = stage_values(first + at);
            bool mine = q < quads;
            bool whole = spare || (at >= s.begin && at + 4u <= s.end && 4u * to + 4u <= room);
            if (mine && whole) {
                plain_store4(address_at(keys, to, 4u), k);
                plain_store4(address_at(values, to, 4u), v);
            }
            if (mine && !whole) {
                [[unroll]] for (uint w = 0u; w < 4u; w++) {
                    if (at + w >= s.begin && at + w < s.end && 4u * to + w < room) {
                        plain_store(address_at(keys, 4u * to + w, 2u), k[w]);
                        plain_store(address_at(values, 4u * to + w, 2u), v[w]);
                    }
                }
            }
            q += TILE;
        }
        // The rest comes to the stage's beginning.
        if (quads != 0u && !all && tile_lane() == 0u) {
            uint rest = first + 4u * min(quads, STAGE_QUADS - 1u);
            uvec4 k = stage_keys(rest), v = stage_values(rest);
            [[unroll]] for (uint w = 0u; w < 4u; w++) {
                staged_keys[first + w] = k[w];
                staged_values[first + w] = v[w];
            }
        }
        s.begin = quads != 0u ? 0u : s.begin;
        s.end -= min(s.end, 4u * quads);
        s.to += quads;
        stage_barrier();
    }
}

#endif
