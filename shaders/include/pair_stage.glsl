// Stage: pairs on their way to two arrays, of keys and of values, where a tile's follow one another. They are put
// together in shared memory, so that they are written by whole quads: stores of single words are what writing takes
// longest.
//
// The lanes of a subgroup are held together by votes, with memory barriers around: a control barrier of a subgroup is one
// of the whole workgroup to lavapipe (Mesa 25.0), and not to be had in loops.
#ifndef VKDS_PAIR_STAGE_GLSL
#define VKDS_PAIR_STAGE_GLSL

#include "tile.glsl"
#include "workgroup.glsl"

const uint STAGE_QUADS = 16u;   // of a tile, in each of the two
const uint STAGE_PAIRS = 4u * STAGE_QUADS;

// Tiles of fewer lanes than 4 are for CPU devices, and write their pairs as they are.
shared uvec4 staged_keys[WORKGROUP / 4u * STAGE_QUADS];
shared uvec4 staged_values[WORKGROUP / 4u * STAGE_QUADS];

// The same for all lanes of the tile.
struct Stage {
    uint place;   // of the arrays, a multiple of 4: where the stage's first word goes
    uint begin;   // the stage's words from begin to end are pairs
    uint end;
};

// A stage for pairs from a place of the arrays on.
Stage stage_at(uint place) { return Stage(place & ~3u, place & 3u, place & 3u); }

// Puts this lane's pair number nth of those that come next into the stage.
void stage_put(Stage s, uint nth, uvec2 pair) {
    uint at = s.end + nth, quad = workgroup_lane() / TILE * STAGE_QUADS + (at >> 2);
    staged_keys[quad][at & 3u] = pair.x;
    staged_values[quad][at & 3u] = pair.y;
}

void stage_barrier() {
    memoryBarrier(gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}

// Writes what is in the stages of the tiles that say `write`: all of it, or whole quads alone, and the rest stays. Of the
// arrays, nothing is written from `room` on. Where `spare`, the rest of a last quad may be written with anything.
// Collective.
void stage_write(uvec2 keys, uvec2 values, uint room, bool spare, bool write, bool all, inout Stage s) {
    stage_barrier();
    if (subgroupAny(write)) {
        uint first = workgroup_lane() / TILE * STAGE_QUADS;
        uint quads = !write ? 0u : all ? (s.end + 3u) >> 2 : s.end >> 2;
        uint q = tile_lane();
        while (subgroupAny(q < quads)) {
            uint at = 4u * q, to = s.place + at, from = first + min(q, STAGE_QUADS - 1u);
            uvec4 k = staged_keys[from], v = staged_values[from];
            bool mine = q < quads;
            bool whole = at >= s.begin && (at + 4u <= s.end || spare) && to + 4u <= room;
            if (mine && whole) {
                plain_store4(address_at(keys, to, 2u), k);
                plain_store4(address_at(values, to, 2u), v);
            }
            if (mine && !whole) {
                [[unroll]] for (uint c = 0u; c < 4u; c++) {
                    if (at + c >= s.begin && at + c < s.end && to + c < room) {
                        plain_store(address_at(keys, to + c, 2u), k[c]);
                        plain_store(address_at(values, to + c, 2u), v[c]);
                    }
                }
            }
            q += TILE;
        }
        // The rest comes to the stage's beginning, unless it is there.
        if (quads != 0u && !all && tile_lane() == 0u) {
            uint rest = first + min(quads, STAGE_QUADS - 1u);
            staged_keys[first] = staged_keys[rest];
            staged_values[first] = staged_values[rest];
        }
        s.begin = quads != 0u ? 0u : s.begin;
        s.place += 4u * quads;
        s.end -= min(s.end, 4u * quads);
        stage_barrier();
    }
}

#endif
