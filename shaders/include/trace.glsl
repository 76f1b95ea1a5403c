// Trace: what concurrent operations do, written to a buffer as events, for package structures/trace.
//
// Only modules compiled with VKDS_TRACE write any: package shaders/traced has some. Elsewhere the macros are nothing.
//
//   VKDS_EVENT_BEGIN(IF, KIND, KEY, VALUE)         an operation begins, to which the lane's next events belong
//   VKDS_EVENT(IF, WHAT, PLACE, OTHER)             if a condition holds: a node or slab, and what else the event says
//   VKDS_EVENT_PAIR(IF, WHAT, PLACE, OTHER, KEY, VALUE)
//
// The places are references to nodes (B-link-tree), or 128-byte lines of memory (slabs, and the keys of sorted runs:
// trace_line of an address).
//
// The buffer begins with 16 words: the number of events, and of operations. An event has 8 words: what it is, with the
// number of the kernel in the upper half; the number of its operation; place; other; key; value (two words each). What
// comes when the buffer is full is counted, but not stored. vk.Options.Trace makes the buffer and sets the constants.
#ifndef VKDS_TRACE_GLSL
#define VKDS_TRACE_GLSL

#ifdef VKDS_TRACE

#include "constants.glsl"
#include "invocation.glsl"
#include "memory.glsl"
#include "results.glsl"

const uint TRACE_BEGIN = 1u;       // an operation: place is its invocation, other its kind
const uint TRACE_END = 2u;         // other is its status
const uint TRACE_VISIT = 3u;       // the place was read
const uint TRACE_SIDE = 4u;        // a side link is followed, to other
const uint TRACE_RESTART = 5u;     // the operation goes back to the root
const uint TRACE_LATCH = 6u;       // the place's latch was taken; key is how often it was waited for
const uint TRACE_LATCHED = 7u;     // the latch had been taken by another operation
const uint TRACE_RELEASE = 8u;     // the latch is released
const uint TRACE_WRITE = 9u;       // the pair was put into slot other
const uint TRACE_CHANGE = 10u;     // the pair in slot other got another value, or the value was combined with this one
const uint TRACE_ERASE = 11u;      // the key was erased in slot other
const uint TRACE_LOST = 12u;       // another operation was faster at the slot
const uint TRACE_LINK = 13u;       // the slab other was appended to the place
const uint TRACE_SPLIT = 14u;      // the place was split: other is the new node, key the separator, value the level
const uint TRACE_GROW = 15u;       // the root was split, into other and the node that value says; key is the separator
const uint TRACE_SEPARATOR = 16u;  // the separator key was put into the inner node, with its child other
const uint TRACE_CLEAN = 17u;      // erased slots of the leaf became free
const uint TRACE_KEEP = 18u;       // the leaf's contents were kept as version other
const uint TRACE_ROW = 19u;        // the place is the memory of row other of a stack of runs
const uint TRACE_MERGE = 20u;      // a tile was merged into the place; other is its first pair; key: the older and the
                                   // newer run (0: none); value: the tile's pairs, and those of the whole merge
const uint TRACE_INDEX = 21u;      // the run of other pairs at the place got its index
const uint TRACE_MARK = 22u;       // those of the run's other pairs that are valid were marked, to be packed

layout(constant_id = VKDS_ID_TRACE_LOW) const uint TRACE_LOW = 0u;         // the buffer's address
layout(constant_id = VKDS_ID_TRACE_HIGH) const uint TRACE_HIGH = 0u;
layout(constant_id = VKDS_ID_TRACE_EVENTS) const uint TRACE_EVENTS = 0u;   // that it has room for
layout(constant_id = VKDS_ID_TRACE_KERNEL) const uint TRACE_KERNEL = 0u;   // the number of this kernel

uvec2 trace_words(uint x) { return uvec2(x, 0u); }
uvec2 trace_words(uvec2 x) { return x; }
uint trace_line(uvec2 address) { return address.x >> 7 | address.y << 25; }

uint trace_operation = ~0u;   // the number of the lane's operation
uint trace_visited = ~0u;     // the place that its last event visits
uint trace_waits = 0u;        // how often it has found a latch taken since it took one

// On a GPU, thousands of operations may wait for one latch and read its node again and again, which would fill any
// buffer. So a place that is visited again at once is told once; and after the eighth time that an operation has found
// a latch taken it tells nothing of its way, until it takes one: then it tells how often it had to wait.
const uint TRACE_WAITS = 8u;
bool trace_tells(uint what, uint place) {
    if (what == TRACE_LATCHED) trace_waits++;
    bool again = what == TRACE_VISIT && place == trace_visited;
    bool way = what == TRACE_VISIT || what == TRACE_SIDE || what == TRACE_RESTART || what == TRACE_LATCHED;
    trace_visited = what == TRACE_VISIT ? place : ~0u;
    return what != 0u && !again && !(way && trace_waits > TRACE_WAITS);
}

void trace_event(uint what, uint place, uint other, uvec2 key, uvec2 value) {
    if (!trace_tells(what, place)) return;
    if (what == TRACE_LATCH) {
        key = uvec2(trace_waits, 0u);
        trace_waits = 0u;
    }
    uvec2 into = uvec2(TRACE_LOW, TRACE_HIGH);
    uint at = atomic_add(into, 1u);
    if (at >= TRACE_EVENTS) return;
    uvec2 event = address_at(address_add(into, 64u), at, 5u);
    plain_store4(event, uvec4(what | TRACE_KERNEL << 16, trace_operation, place, other));
    plain_store4(address_add(event, 16u), uvec4(key, value));
}

void trace_begin(uint kind, uvec2 key, uvec2 value) {
    trace_operation = atomic_add(uvec2(TRACE_LOW + 4u, TRACE_HIGH), 1u);
    trace_waits = 0u;
    trace_event(TRACE_BEGIN, invocation_index(), kind, key, value);
}

// What an operation did at a slot, or 0: nothing that others see.
uint trace_act(bool done, uint status) {
    return !done ? TRACE_LOST : status == STATUS_INSERTED ? TRACE_WRITE : status == STATUS_ASSIGNED ? TRACE_CHANGE
         : status == STATUS_DELETED ? TRACE_ERASE : 0u;
}

#define VKDS_EVENT_BEGIN(IF, KIND, KEY, VALUE) if (IF) trace_begin(KIND, trace_words(KEY), trace_words(VALUE));
#define VKDS_EVENT(IF, WHAT, PLACE, OTHER) if (IF) trace_event(WHAT, PLACE, OTHER, uvec2(0u), uvec2(0u));
#define VKDS_EVENT_PAIR(IF, WHAT, PLACE, OTHER, KEY, VALUE) \
    if (IF) trace_event(WHAT, PLACE, OTHER, trace_words(KEY), trace_words(VALUE));
#else
#define VKDS_EVENT_BEGIN(IF, KIND, KEY, VALUE)
#define VKDS_EVENT(IF, WHAT, PLACE, OTHER)
#define VKDS_EVENT_PAIR(IF, WHAT, PLACE, OTHER, KEY, VALUE)
#endif

#endif
