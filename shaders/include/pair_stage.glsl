// Stage: pairs on their way to two arrays, of keys and of values, put together in shared memory by a tile, so that they
// are written by whole quads, and by all tiles of a subgroup at a time. Stores of single words, each tile's by itself,
// take longer than all else about a range.
//
// The lanes of a subgroup are held together by votes, with memory barriers around: a control barrier of a subgroup is one
// of the whole workgroup to lavapipe (Mesa 25.0), and not to be had in loops.
#ifndef VKDS_PAIR_STAGE_GLSL
#define VKDS_PAIR_STAGE_GLSL

#include "tile.glsl"
#include "workgroup.glsl"

const uint STAGE_QUADS = TILE == 2u ? 12u : 16u;   // of a tile, in each of the two arrays
const uint STAGE_PAIRS = 4u * STAGE_QUADS;

// Tiles of one lane are for CPU devices, and write their pairs as they are.
const bool STAGED = TILE >= 2u;
const uint STAGES = STAGED ? WORKGROUP / TILE : 1u;
shared uvec2 staged[STAGES * STAGE_PAIRS];
shared uint staged_to[STAGES * STAGE_QUADS];   // the quad of the arrays that each quad goes to

// The same for all lanes of the tile.
struct Stage {
    uint begin;   // the stage's words from begin to end are pairs, or nothing that anybody minds
    uint end;
    uint to;      // the quad of the arrays where the next pair goes, less that of the stage
};

uint stage_first() { return STAGED ? workgroup_lane() / TILE * STAGE_QUADS : 0u; }   // quads before the tile's

// An empty stage for pairs from a place of the arrays on.
Stage stage_at(uint place) { return Stage(place & 3u, place & 3u, place >> 2); }

// Has the next pair go to another place of the arrays, a multiple of 4, where `turn`.
void stage_turn(inout Stage s, uint place, bool turn) {
    s.end = turn ? (s.end + 3u) & ~3u : s.end;
    s.to = turn ? (place >> 2) - (s.end >> 2) : s.to;
}

// Notes where the quads go that the next pairs, up to 14, lie in.
void stage_mark(Stage s, uint pairs) {
    uint quad = (s.end >> 2) + tile_lane(), end = (s.end + pairs + 3u) >> 2;
    [[unroll]] for (uint step = 0u; step < 5u; step += TILE)
        if (pairs != 0u && quad + step < end) staged_to[stage_first() + quad + step] = s.to + quad + step;
}

// Puts a pair of this lane, number nth of those that come next, into the stage.
void stage_put(Stage s, uint nth, uvec2 pair) {
    uint at = s.end + nth;
    staged[4u * stage_first() + at] = pair;
}

// Whether there may be no room for so many more pairs.
bool stage_full(Stage s, uint pairs) { return s.end + pairs + 3u > STAGE_PAIRS; }

void stage_barrier() {
    memoryBarrier(gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}

// Writes what is in the stages of the tiles that say `write`: all of it, or whole quads alone, and the rest stays. Of the
// arrays, nothing is written from `room` on. Where `spare`, all places are multiples of 4, there is room for all, and the
// rest of a last quad may be written with anything. Called between putting and putting. Collective.
void stage_write(uvec2 keys, uvec2 values, uint room, bool spare, bool write, bool all, inout Stage s) {
    if (subgroupAny(write)) {
        stage_barrier();
        uint first = stage_first();
        uint quads = !write ? 0u : all ? (s.end + 3u) >> 2 : s.end >> 2;
        uint q = tile_lane();
        while (subgroupAny(q < quads)) {
            uint from = first + min(q, STAGE_QUADS - 1u), at = 4u * q, to = 4u * staged_to[from];
            uvec2 a = staged[4u * from], b = staged[4u * from + 1u], c = staged[4u * from + 2u], d = staged[4u * from + 3u];
            uvec4 k = uvec4(a.x, b.x, c.x, d.x), v = uvec4(a.y, b.y, c.y, d.y);
            bool mine = q < quads;
            bool whole = spare || (at >= s.begin && at + 4u <= s.end && to + 4u <= room);
            if (mine && whole) {
                plain_store4(address_at(keys, to, 2u), k);
                plain_store4(address_at(values, to, 2u), v);
            }
            if (mine && !whole) {
                [[unroll]] for (uint w = 0u; w < 4u; w++) {
                    if (at + w >= s.begin && at + w < s.end && to + w < room) {
                        plain_store(address_at(keys, to + w, 2u), k[w]);
                        plain_store(address_at(values, to + w, 2u), v[w]);
                    }
                }
            }
            q += TILE;
        }
        // The rest comes to the stage's beginning, unless it is there.
        if (quads != 0u && !all && tile_lane() == 0u) {
            uint rest = first + min(quads, STAGE_QUADS - 1u);
            [[unroll]] for (uint w = 0u; w < 3u; w++) staged[4u * first + w] = staged[4u * rest + w];
            staged_to[first] = staged_to[rest];
        }
        s.begin = quads != 0u ? 0u : s.begin;
        s.end -= min(s.end, 4u * quads);
        s.to += quads;
        stage_barrier();
    }
}

#endif
