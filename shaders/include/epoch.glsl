// Epochs: epoch-based reclamation. It frees objects that were removed from a structure once no subgroup can read them.
//
// After Awad's dissertation (2022), section 4.4.4, and Brown's DEBRA (2015):
//   - A subgroup enters an epoch before it uses a structure, and leaves it afterwards.
//   - It retires the objects that it removes from the structure into a limbo bag of its epoch.
//   - The epoch advances when every subgroup is in the current epoch or has left.
//   - Objects retired three epochs ago can be freed: no subgroup can be reading them.
// While a subgroup stays in an epoch, the epoch can advance at most once more. Objects retired since it entered are
// then not freed, and the bags fill; no subgroup waits.
//
// Both papers give each process its own announcement word and its own bags. Here any number of subgroups may start and
// end at any time. So announcements are counters, of the subgroups in even and in odd epochs, and the counters are
// striped to avoid contention on one word. Bags belong to stripes, too, and any subgroup of the stripe may empty them.
// test/models/epoch_test.go is a model of the protocol, and shows what breaks it.
//
// A subgroup does this once or repeatedly:
//
//     Epoch epoch = epoch_enter(reclaimer);
//     …                                      // read the structure, remove objects from it, retire them
//     epoch_leave(reclaimer, epoch);         // use no reference after this that was read before it
//
// This header retires words of any meaning; epoch_slab.glsl retires slabs of a pool. References that were found before
// the subgroup entered, by an earlier dispatch or in an earlier epoch, are not protected.
#ifndef VKDS_EPOCH_GLSL
#define VKDS_EPOCH_GLSL

#include "memory.glsl"

// A reclaimer as the host describes it (alloc.ReclaimerDescription in Go).
struct EpochReclaimer {
    uvec2 state;    // address of its memory, laid out as below
    uint stripes;   // a power of two
    uint bag;       // words that a limbo bag has room for
};

// An epoch that a subgroup is in: uniform over its lanes.
struct Epoch {
    uint number;    // the epoch's number; the current one is at most one ahead
    uint held;      // what epoch_leave subtracts from the announcements
    uint retired;   // 0: nothing so far; 1: something; 2: enough to try to advance the epoch
};

// A bag of words that were retired three epochs ago, owned by one subgroup: uniform over its lanes.
struct EpochBag {
    uvec2 words;   // address
    uint count;
    uint next;
};

// Each stripe has a bag for each epoch modulo EPOCH_CLASSES. Five are needed: a subgroup in epoch n may empty the bag
// of n-3 while others fill those of n-1, n and n+1, and the bag of n-2 must stay as it is. Epoch numbers wrap around at
// EPOCH_END, a multiple of both 5 and 2.
const uint EPOCH_CLASSES = 5u;
const uint EPOCH_END = 4294967290u;

// Byte offsets: the epoch's number; two addresses that epoch_slab.glsl uses for slabs that found no room in a bag; one
// line per stripe, followed by the bags, stripe after stripe.
const uint EPOCH_NUMBER_AT = 0u;
const uint EPOCH_KEPT_AT = 128u;
const uint EPOCH_STRIPES_AT = 256u;
// Byte offsets in a stripe's line: the number of subgroups in even epochs plus 2^16 times that in odd epochs; for each
// of the five bags the number of words retired to it, including those that found no room; the number of words freed.
const uint EPOCH_ACTIVE_AT = 0u;
const uint EPOCH_COUNTS_AT = 4u;
const uint EPOCH_FREED_AT = 24u;   // by epoch_collect

const uint EPOCH_LOOKS = 5u;   // more than epoch_enter needs: at most four

// The stripe of this subgroup; the address of a stripe's line; the address of a bag's words; the address of the number
// of words that were retired to it, which may be more than it has room for.
uint epoch_stripe(EpochReclaimer r) {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    return (group * gl_NumSubgroups + gl_SubgroupID) & (r.stripes - 1u);
}
uvec2 epoch_line(EpochReclaimer r, uint stripe) {
    return address_at(address_add(r.state, EPOCH_STRIPES_AT), stripe, 7u);
}
uvec2 epoch_words(EpochReclaimer r, uint stripe, uint number) {
    return address_at(epoch_line(r, r.stripes), (stripe * EPOCH_CLASSES + number % EPOCH_CLASSES) * r.bag, 2u);
}
uvec2 epoch_count(EpochReclaimer r, uint stripe, uint number) {
    return address_add(epoch_line(r, stripe), EPOCH_COUNTS_AT + number % EPOCH_CLASSES * 4u);
}

// What an announcement in an epoch adds to its stripe's count.
uint epoch_one(uint number) { return (number & 1u) == 0u ? 1u : 0x10000u; }

// The current epoch's number, as this subgroup sees it. Collective.
uint epoch_seen(EpochReclaimer r) {
    uint number = 0u;
    if (subgroupElect()) number = atomic_load(address_add(r.state, EPOCH_NUMBER_AT));
    return subgroupBroadcastFirst(number);
}

// Enters the current epoch. Collective over the subgroup, which must not be in an epoch already.
//
// The subgroup announces itself in the epoch that it sees, and reads the epoch again. If it has advanced, the
// announcement may have come too late, and the subgroup announces itself in the new epoch as well. With both parities
// announced, the epoch can advance at most once more, so the loop ends.
Epoch epoch_enter(EpochReclaimer r) {
    Epoch e = Epoch(epoch_seen(r), 0u, 0u);
    for (uint look = 0u; look < EPOCH_LOOKS; look++) {
        uint one = epoch_one(e.number);
        if (subgroupAll((e.held & one) == 0u)) {
            if (subgroupElect()) atomic_add(address_add(epoch_line(r, epoch_stripe(r)), EPOCH_ACTIVE_AT), one);
            e.held |= one;
        }
        acquire_fence();   // see all writes before this epoch; and the announcement comes before the second read
        uint again = epoch_seen(r);
        if (subgroupAll(again == e.number)) break;
        e.number = again;
    }
    return e;
}

// Puts the words of the lanes with `want` into the limbo bag of the subgroup's epoch. The object that a word stands for
// must be removed from the structure before, so that subgroups that enter later can't find it. Returns false to lanes
// with `want` whose word found no room: it is not retired, and the caller must keep its object unchanged until no
// kernel that may read it is running. Collective.
bool epoch_retire(EpochReclaimer r, inout Epoch e, uint word, bool want) {
    uvec4 all = subgroupBallot(want);
    uint n = subgroupBallotBitCount(all);
    if (n == 0u) return want;
    uint stripe = epoch_stripe(r);
    uint at = 0u;
    if (subgroupElect()) at = atomic_add(epoch_count(r, stripe, e.number), n);
    at = subgroupBroadcastFirst(at);
    uint place = at + subgroupBallotExclusiveBitCount(all);
    bool room = place < r.bag;
    if (want && room) atomic_store(address_at(epoch_words(r, stripe, e.number), place, 2u), word);
    uint step = max(r.bag >> 2, 1u);
    e.retired = max(e.retired, at / step != (at + n) / step ? 2u : 1u);
    return want && room;
}

// Returns the words that the subgroup may free: the bag of its stripe from three epochs ago, which it then owns. The
// bag is empty if the subgroup has retired nothing. Collective.
EpochBag epoch_collect(EpochReclaimer r, Epoch e) {
    EpochBag bag = EpochBag(uvec2(0u), 0u, 0u);
    if (e.retired == 0u) return bag;   // so that subgroups that only read do no atomics here
    uint stripe = epoch_stripe(r), old = e.number + (EPOCH_CLASSES - 3u);
    if (subgroupElect()) {
        uvec2 count = epoch_count(r, stripe, old);
        if (atomic_load(count) != 0u) bag.count = atomic_exchange(count, 0u);
    }
    bag.count = min(subgroupBroadcastFirst(bag.count), r.bag);
    bag.words = epoch_words(r, stripe, old);
    if (bag.count != 0u) {
        full_fence();   // whoever reuses what is freed here does so after all subgroups that left
        if (subgroupElect()) atomic_add(address_add(epoch_line(r, stripe), EPOCH_FREED_AT), bag.count);
    }
    return bag;
}

// epoch_more returns whether a bag has words left. epoch_next gives the next words to the lanes, one each, and returns
// whether this lane got one. Collective.
bool epoch_more(EpochBag bag) { return bag.next < bag.count; }
bool epoch_next(inout EpochBag bag, out uint word) {
    uint i = bag.next + gl_SubgroupInvocationID;
    word = 0u;
    bool mine = i < bag.count;
    if (mine) word = atomic_load(address_at(bag.words, i, 2u));
    bag.next += gl_SubgroupSize;
    return mine;
}

// Whether a subgroup is in the epoch before this one. With `looks` it reads by loads. Otherwise it reads by atomic
// additions of 0, which are ordered with the announcements. Collective.
bool epoch_is_held(EpochReclaimer r, Epoch e, bool looks) {
    bool held = false;
    uint mask = 0xffffu * epoch_one(e.number + 1u);
    for (uint first = 0u; first < r.stripes; first += gl_SubgroupSize) {
        uint stripe = first + gl_SubgroupInvocationID;
        uvec2 who = address_add(epoch_line(r, stripe), EPOCH_ACTIVE_AT);
        uint count = 0u;
        if (stripe < r.stripes) {
            if (looks) count = atomic_load(who);
            else count = atomic_add(who, 0u);
        }
        held = held || (count & mask) != 0u;
    }
    return subgroupAny(held);
}

// Advances the epoch, if no subgroup is in the one before. Collective.
void epoch_advance(EpochReclaimer r, Epoch e) {
    if (subgroupAll(epoch_seen(r) != e.number)) return;   // another subgroup has done it
    if (epoch_is_held(r, e, true)) return;                // a few loads answer in most cases
    release_fence();   // a subgroup that announces itself after the atomics sees this epoch or a later one
    if (epoch_is_held(r, e, false)) return;
    full_fence();   // a subgroup that sees the next epoch sees all writes of those that left
    uint next = e.number + 1u == EPOCH_END ? 0u : e.number + 1u;
    if (subgroupElect()) atomic_cas(address_add(r.state, EPOCH_NUMBER_AT), e.number, next);
}

// Leaves the epoch. References that were read in it must not be used any more. Collective.
void epoch_leave(EpochReclaimer r, inout Epoch e) {
    if (e.retired == 2u) epoch_advance(r, e);
    release_fence();   // all reads and writes in the epoch come before
    if (subgroupElect()) atomic_add(address_add(epoch_line(r, epoch_stripe(r)), EPOCH_ACTIVE_AT), 0u - e.held);
    e.held = 0u;
}

#endif
