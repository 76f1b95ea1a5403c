// Traversal control: the push constants of a traversal's kernels, and the words in memory with its progress, for the
// kernels and the host.
#ifndef VKDS_ANALYTICS_TRAVERSAL_CONTROL_GLSL
#define VKDS_ANALYTICS_TRAVERSAL_CONTROL_GLSL

#include "invocation.glsl"
#include "neighbors.glsl"
#include "dispatches.glsl"

// The words of a traversal's control block, which Go has, too (traversal.go).
const uint CONTROL_ROUND = 0u;     // of the frontier that is to be expanded
const uint CONTROL_ENTRIES = 1u;   // two: of the queues of even and of odd rounds
const uint CONTROL_LANES = 3u;     // two: of their rows
const uint CONTROL_MODE = 5u;      // what the large kernel does
const uint CONTROL_GROUPS = 6u;    // three: of each of its dispatches
const uint CONTROL_DONE = 9u;      // 1: there is nothing left
const uint CONTROL_SEEN = 10u;     // lanes of all frontiers so far, modulo 2^32
const uint CONTROL_SHARE = 11u;    // entries of the frontier that a workgroup of the large kernel expands
const uint CONTROL_OWN = 12u;      // from here on an algorithm's own
const uint CONTROL_WORDS = 32u;    // a multiple of 4

const uint MODE_NONE = 0u;
const uint MODE_EXPAND = 1u;
const uint MODE_OWN = 2u;          // from here on an algorithm's own

const uint FRONTIER_PART = 1024u;
// Entries of a queue that a row is.
uint parts_of(Row row) { return (row.lanes + FRONTIER_PART - 1u) / FRONTIER_PART; }

const uint LARGE_STAGE = 32u;      // entries that a workgroup of the large kernel expands at most
const uint LARGE_GROUP = 128u;     // WORKGROUP of the large kernel, which the small one orders (traversal.go)

layout(push_constant, std430) uniform Push {
    Rows graph;
    uvec2 control;
    uvec2 queues;     // two of so many entries
    uvec2 values;     // a word a vertex, and what else an algorithm has
    uvec2 marks;
    uvec2 extra;
    uint capacity;
    uint small_entries;   // what the small kernel takes
    uint small_lanes;
    uint rounds;          // and how many it does in a dispatch
    uint own;
    uint more;
    uint dispatch;        // of the large kernel in a round, which one this is
    uint dispatches;      // of how many
};

uint control_load(uint word) { return plain_load_at(control, word); }

#endif
