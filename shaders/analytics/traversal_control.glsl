// Traversal control: the push constants of a traversal's kernels, and the words in memory that hold its progress, for
// the kernels and the host.
#ifndef VKDS_ANALYTICS_TRAVERSAL_CONTROL_GLSL
#define VKDS_ANALYTICS_TRAVERSAL_CONTROL_GLSL

#include "invocation.glsl"
#include "neighbors.glsl"
#include "dispatches.glsl"

// The words of a traversal's control block. Go has them, too (traversal.go).
const uint CONTROL_ROUND = 0u;     // the round whose frontier is expanded next
const uint CONTROL_ENTRIES = 1u;   // two words: the lengths of the queues of even and of odd rounds
const uint CONTROL_LANES = 3u;     // two words: the numbers of lanes of their rows
const uint CONTROL_MODE = 5u;      // what the large kernel does
const uint CONTROL_GROUPS = 6u;    // three words: the workgroups of each of its dispatches
const uint CONTROL_DONE = 9u;      // 1: there is nothing left
const uint CONTROL_SEEN = 10u;     // lanes of all frontiers so far, modulo 2^32
const uint CONTROL_SHARE = 11u;    // entries of the frontier per workgroup of the large kernel
const uint CONTROL_OWN = 12u;      // the first word that algorithms define themselves
const uint CONTROL_WORDS = 32u;    // a multiple of 4

const uint MODE_NONE = 0u;
const uint MODE_EXPAND = 1u;
const uint MODE_OWN = 2u;          // the first mode that algorithms define themselves

const uint FRONTIER_PART = 1024u;
// The number of queue entries of a row.
uint parts_of(Row row) { return (row.lanes + FRONTIER_PART - 1u) / FRONTIER_PART; }

const uint LARGE_STAGE = 32u;      // the greatest number of entries per workgroup of the large kernel
const uint LARGE_GROUP = 128u;     // WORKGROUP of the large kernel. The small one needs it for its orders
                                   // (traversal.go)

layout(push_constant, std430) uniform Push {
    Rows graph;
    uvec2 control;
    uvec2 queues;     // two queues with `capacity` entries each
    uvec2 values;     // one word per vertex. Algorithms define it, and the next ones
    uvec2 marks;
    uvec2 extra;
    uint capacity;
    uint small_entries;   // the greatest numbers of entries and of lanes that frontiers of the small kernel have
    uint small_lanes;
    uint rounds;          // the greatest number of rounds in a dispatch of the small kernel
    uint own;
    uint more;
    uint dispatch;        // the number of this dispatch of the large kernel in a round
    uint dispatches;      // the number of dispatches of the large kernel in a round
};

uint control_load(uint word) { return plain_load_at(control, word); }

#endif
