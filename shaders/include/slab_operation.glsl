// Slab operation: the state machine of one lane's operation on a list of slabs, concurrent with others. From what the
// operation finds in a slab, it decides the next step. slab_hash.glsl and slab_list.glsl start operations.
#ifndef VKDS_SLAB_OPERATION_GLSL
#define VKDS_SLAB_OPERATION_GLSL

#include "operation.glsl"
#include "results.glsl"
#include "slab_view.glsl"
#include "trace.glsl"

// The position of an operation.
const uint AT_WALK = 0u;   // walking along the list
const uint AT_KEY = 1u;    // at the slot that holds its key
const uint AT_ROOM = 2u;   // at the first free slot; its key is not in the list, or that does not matter
const uint AT_END = 3u;    // at the end of the list, without the key (and, if it inserts, without a free slot)
const uint AT_DONE = 4u;

const uint SLAB_PATIENCE = 4u * TILE;   // the visits of a tile before appends skip to the end of a list

// An operation that is in progress. Its kind never changes, and is passed beside it.
struct SlabOperation {
    K key;         // as it is stored
    K target;      // the key that ends its walk; a free slot ends it, too
    V value;       // the value to insert, or found, or the number of pairs
    uvec2 slab;    // the address of the current slab
    uint place;    // the place of that slab in its group (slab_shared.glsl)
    uint at;       // AT_…
    uint slot;     // the slot in that slab, or NODE_NONE
    V seen;        // the value in that slot
    uint status;   // STATUS_…
};

// Starts an operation on the list whose first slab has the address `slab` and a place in its group. OP_DELETE_ALL
// counts on from `value`.
SlabOperation slab_operation(uint kind, K key, V value, uvec2 slab, uint place, bool enabled) {
    // The key, except for kinds whose walk does not end at it.
    K target = kind == OP_INSERT_DUPLICATE || kind == OP_COUNT_ALL ? SLAB_EMPTY : key;
    uint at = enabled ? AT_WALK : AT_DONE;
    return SlabOperation(key, target, kind == OP_COUNT_ALL ? V(0u) : value, slab, place, at, 0u, V(0u), STATUS_PENDING);
}

// Decides the next step after the tile has read a slab. `hit` is the result of the search for the target, `next` the
// reference to the next slab, and `count` the number of slots with the key (for OP_COUNT_ALL).
void slab_meet(inout SlabOperation o, uint kind, SlabPool pool, SlabHit hit, uint next, uint count) {
    VKDS_EVENT(true, TRACE_VISIT, trace_line(o.slab), 0u)
    if (kind == OP_COUNT_ALL) VKDS_INCREASE(o.value, count);
    o.slot = hit.slot;
    o.seen = hit.value;
    if (hit.slot != NODE_NONE) o.at = hit.key != SLAB_EMPTY ? AT_KEY : op_inserts(kind) ? AT_ROOM : AT_END;
    else if (!slab_link_ends(next, o.place, o.key)) slab_go_on(pool, next, o.slab, o.place);
    else if (slab_filters(o.place) && op_inserts(kind)) {
        uint link = slab_filter_pass(o.slab, o.place, o.key);
        slab_go_on(pool, link, o.slab, o.place);
    } else o.at = AT_END;
}

// Does the operation at its slot, by atomics alone. Returns false if another invocation was faster.
bool slab_act_at(inout SlabOperation o, uint kind, out uint status) {
    uint at = o.at;
    bool deletes = kind == OP_DELETE || kind == OP_DELETE_ALL, done;
    if (at == AT_ROOM || (at == AT_KEY && (kind == OP_INSERT || deletes))) {
        uint change = at == AT_ROOM ? SLAB_INSERT : deletes ? SLAB_ERASE : SLAB_ASSIGN;
        done = slab_change(o.slab, change, o.slot, o.key, o.seen, o.value, o.target);
        status = at == AT_ROOM ? STATUS_INSERTED : deletes ? STATUS_DELETED : STATUS_ASSIGNED;
    } else {
        if (kind == OP_FIND) done = slab_value(o.slab, o.slot, o.key, o.seen);
        else if (kind == OP_INSERT_ADD) done = slab_add(o.slab, o.slot, VKDS_SLAB_SEEN(o.seen) o.value);
        else if (kind == OP_INSERT_MIN) done = slab_min(o.slab, o.slot, o.seen, o.value);
        else if (kind == OP_INSERT_MAX) done = slab_max(o.slab, o.slot, o.seen, o.value);
        else done = true;   // OP_INSERT_UNIQUE
        if (kind == OP_FIND) o.value = o.seen;
        status = kind == OP_FIND || kind == OP_INSERT_UNIQUE ? STATUS_FOUND : STATUS_ASSIGNED;
    }
    return done;
}

// Moves the operation to the slab that the word at `tail` refers to, if it isn't SLAB_NULL. No slab of the chain before
// that one has a free slot. The slabs before the chain may have some, if buckets share them: returns false there, since
// others may be faster, and then the whole chain is still to come.
bool slab_skip(inout SlabOperation o, SlabPool pool, uvec2 tail) {
    uint last = atomic_load(tail), passed = ~0u;
    if (last == SLAB_NULL) return true;
    while (slab_filters(o.place)) {
        // A slab is full if its last slot is in use.
        if (atomic_load(slab_slot(o.slab, SLAB_SLOTS - 1u)) == ~0u) return false;
        uint link = slab_filter_pass(o.slab, o.place, o.key);
        slab_go_on(pool, link, o.slab, o.place);
        passed &= link;
    }
    // Made of the links, too: order by address. An operation that was in the chain already has come there by them.
    o.slab = slab_address(pool, last + (passed >> 31) - 1u);
    return true;
}

// Ends an operation that does not insert, at the end of its list.
void slab_conclude(inout SlabOperation o, uint kind) {
    bool any = (kind == OP_COUNT_ALL || kind == OP_DELETE_ALL) && o.value != V(0u);
    o.at = AT_DONE;
    o.status = !any ? STATUS_ABSENT : kind == OP_COUNT_ALL ? STATUS_FOUND : STATUS_DELETED;
}

// Sends an operation to its list's first slab, by the reference to that. Of a list without slabs it is SLAB_NULL, and
// o.slab remains where an insertion links one.
void slab_begin(inout SlabOperation o, uint kind, SlabPool pool, uint first) {
    if (first != SLAB_NULL) o.slab = slab_address(pool, first);
    else if (o.at == AT_WALK && op_inserts(kind)) o.at = AT_END;
    else if (o.at == AT_WALK) slab_conclude(o, kind);
}

// Acts after the walk. An insertion at the list's end waits there for slab_extend. If another invocation was faster,
// the operation walks on.
void slab_act(inout SlabOperation o, uint kind) {
    uint at = o.at;
    V value = o.value;
    if (at == AT_KEY || at == AT_ROOM) {
        uint status;
        bool done = slab_act_at(o, kind, status);
        // slab_change.glsl tells of insertions: they may go on to a later slot than they saw.
        VKDS_EVENT_PAIR(!done || status != STATUS_INSERTED, trace_act(done, status), trace_line(o.slab), o.slot, o.key,
                        status == STATUS_DELETED ? o.seen : value)
        bool more = kind == OP_DELETE_ALL;   // there may be more of them
        if (more && done) VKDS_INCREMENT(o.value);
        o.at = done && !more ? AT_DONE : AT_WALK;
        if (o.at == AT_DONE) o.status = status;
    } else if (!op_inserts(kind) && at == AT_END) {
        // What has counted some must not visit their slab again, and need not: it saw them, whenever that was.
        bool ends = kind == OP_COUNT_ALL && value != V(0u);
        if (!ends) ends = slab_ends(o.slab, o.slot, o.place, o.key);
        if (ends) slab_conclude(o, kind);
        else o.at = AT_WALK;   // from this slab on
    }
}

// Appends a slab to the list of each operation that `extends`, and stores its reference in the word at `tail`, unless
// tail is 0. If the pool is full, the operation stays pending. Collective over the subgroup.
void slab_extend(inout SlabOperation o, SlabPool pool, inout SlabCursor cursor, bool extends, uvec2 tail) {
    uint fresh = slab_allocate(pool, cursor, extends);
    bool spare = false;
    if (extends) {
        bool inserted = false;
        if (fresh != SLAB_NULL) {
            uint linked = slab_link(o.slab, fresh);
            spare = linked != fresh;
            if (!spare && tail != uvec2(0u)) atomic_store(tail, fresh);
            VKDS_EVENT(!spare, TRACE_LINK, trace_line(o.slab), trace_line(slab_address(pool, fresh)))
            o.slab = slab_address(pool, linked);
            // The slab was empty a moment ago, so the operation tries its first slot without reading it.
            inserted = slab_insert(o.slab, 0u, o.key, o.value, o.target);
            if (inserted) o.status = STATUS_INSERTED;
        }
        o.at = inserted || fresh == SLAB_NULL ? AT_DONE : AT_WALK;
    }
    slab_free(pool, fresh, spare);
}

// Runs the operations of all lanes until they are done or the budget of slab visits is used up. A round has two steps.
// First each tile walks for one of its lanes after the other, until every operation is where it can act. Then all lanes
// act, each on its own slot, so that their atomics overlap in time. An operation that failed because another invocation
// was faster walks on from there. This is a macro for the same reason as VKDS_SLAB_FIND.
//
// TAIL is the address of a word that refers to a slab near the list's end, or uvec2(0) if there is no such word.
// OP_INSERT_DUPLICATE appends to the end of the list, however long that is. If it is still walking after SLAB_PATIENCE
// visits, it skips to that slab, once: the word may be old, and a second time might lead back. It isn't read in lists
// of usual length.
#define VKDS_SLAB_OPERATE(POOL, OPERATION, CURSOR, KIND, ENABLED, BUDGET, TAIL)                           \
    bool counts = subgroupAny(ENABLED && KIND == OP_COUNT_ALL), inserts = op_inserts(KIND);               \
    bool appends = TAIL != uvec2(0u) && KIND == OP_INSERT_DUPLICATE;                                      \
    bool skips = ENABLED && appends;                                                                      \
    uint visits = 0u, stop = subgroupAny(skips) ? min(BUDGET, SLAB_PATIENCE) : BUDGET;                    \
    while (subgroupAny(OPERATION.at != AT_DONE) && visits < BUDGET) {                                     \
        for (; subgroupAny(OPERATION.at == AT_WALK) && visits < stop; visits++) {                         \
            uint queue = tile_ballot(OPERATION.at == AT_WALK);                                            \
            uint source = queue == 0u ? 0u : uint(findLSB(queue));                                        \
            K target = tile_shuffle(OPERATION.target, source);                                            \
            Node node = VKDS_SLAB_VIEW(tile_shuffle(OPERATION.slab, source), queue);                      \
            SlabHit hit = slab_search(node, target, SLAB_EMPTY);                                          \
            uint next = slab_next(node), count = 0u;                                                      \
            if (counts) count = slab_count(node, tile_shuffle(OPERATION.key, source));                    \
            if (queue != 0u && tile_lane() == source) slab_meet(OPERATION, KIND, POOL, hit, next, count); \
        }                                                                                                 \
        slab_act(OPERATION, KIND);                                                                        \
        bool extends = inserts && OPERATION.at == AT_END;                                                 \
        uvec2 tail = uvec2(0u);                                                                           \
        if (appends) tail = TAIL;                                                                         \
        if (subgroupAny(extends)) slab_extend(OPERATION, POOL, CURSOR, extends, tail);                    \
        if (visits >= stop && stop != BUDGET) {                                                           \
            if (skips && OPERATION.at == AT_WALK) skips = !slab_skip(OPERATION, POOL, tail);              \
            bool later = subgroupAny(skips && OPERATION.at == AT_WALK);                                   \
            stop = later ? min(BUDGET, visits + SLAB_PATIENCE) : BUDGET;                                  \
        }                                                                                                 \
    }

#endif
