// Epochs: when what was taken out of a structure may be used again, though others may still be reading it.
//
// Epoch-based reclamation after Awad's dissertation (2022), section 4.4.4, and Brown's DEBRA (2015), which it follows:
// who works on a structure enters an epoch and leaves it; what it takes out of the structure it retires into a limbo
// bag of its epoch; the epoch moves on when all are in it or have left; and what was retired three epochs ago nobody
// can be reading. Who is slow keeps the epoch from moving on by more than one, and with that what was retired since it
// entered, and nothing else. Nobody waits: an epoch that stands still means that bags fill.
//
// It differs from both where they rely on progress. Their processes have a place each for announcements, and bags of
// their own; here a subgroup may come and go at any time, and any number of them. So announcements are counted, in
// stripes that keep them from all meeting at one word: how many are in epochs of either parity. Bags belong to stripes
// as well, and are emptied by whoever comes by. test/models/epoch_test.go has the protocol, and what breaks it.
//
// A subgroup works so, once or again and again:
//
//     Epoch epoch = epoch_enter(reclaimer);
//     …                                      // read the structure; take things out of it, and retire them
//     epoch_leave(reclaimer, epoch);         // with none of what was read in hand
//
// This header deals in words, whatever they stand for; epoch_slab.glsl retires slabs of a pool. References that were
// found before the subgroup entered, by an earlier dispatch or in an earlier epoch, are not protected.
#ifndef VKDS_EPOCH_GLSL
#define VKDS_EPOCH_GLSL

#include "memory.glsl"

// A reclaimer as the host describes it (alloc.DeviceReclaimer in Go).
struct EpochReclaimer {
    uvec2 state;    // address of its memory, laid out as below
    uint stripes;   // a power of two
    uint bag;       // words that a limbo bag has room for
};

// An epoch that a subgroup is in: uniform over its lanes.
struct Epoch {
    uint number;    // the epoch has not moved on by more than one since
    uint held;      // what is to be taken back from the announcements
    uint retired;   // 0: nothing so far; 1: something; 2: enough to try and move the epoch on
};

// The words that were retired three epochs ago, as their one owner has them: uniform over the subgroup's lanes.
struct EpochBag {
    uvec2 words;   // address
    uint count;
    uint next;
};

// Of the classes that epochs are in, five in a row are needed: who is in epoch n may empty the bag of n-3 while others
// fill those of n-1, n and n+1, and what was retired in n-2 stays. Numbers go round at a multiple of both the classes
// and the parities.
const uint EPOCH_CLASSES = 5u;
const uint EPOCH_END = 4294967290u;

// Byte offsets: the epoch's number; the address of what epoch_slab.glsl has for slabs that found no room in a bag; a
// line a stripe, and behind the lines the bags, those of a stripe side by side.
const uint EPOCH_NUMBER_AT = 0u;
const uint EPOCH_KEPT_AT = 128u;
const uint EPOCH_STRIPES_AT = 256u;
// In a stripe's line: how many are in even epochs, and 2^16 times how many are in odd ones; how many words were retired
// to the bag of each class, also those that found no room; how many were collected.
const uint EPOCH_ACTIVE_AT = 0u;
const uint EPOCH_COUNTS_AT = 4u;
const uint EPOCH_FREED_AT = 24u;   // by epoch_collect

const uint EPOCH_LOOKS = 5u;   // an epoch is entered after four at the latest: see epoch_enter

// The stripe of this subgroup, and its line; the words of a bag, and of how many words it has been asked to have room
// for.
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

// The epoch as this subgroup may see it.
uint epoch_seen(EpochReclaimer r) {
    uint number = 0u;
    if (subgroupElect()) number = atomic_load(address_add(r.state, EPOCH_NUMBER_AT));
    return subgroupBroadcastFirst(number);
}

// Enters the epoch. Collective over the subgroup; in an epoch already, it is a mistake.
//
// The announcement comes first, and then a second look: if the epoch has moved on meanwhile, the announcement may have
// been overlooked, and another one is made for the epoch that is seen now. Once both parities are announced it moves on
// by one more at most, so nobody tries for ever.
Epoch epoch_enter(EpochReclaimer r) {
    Epoch e = Epoch(epoch_seen(r), 0u, 0u);
    for (uint look = 0u; look < EPOCH_LOOKS; look++) {
        uint one = epoch_one(e.number);
        if (subgroupAll((e.held & one) == 0u)) {
            if (subgroupElect()) atomic_add(address_add(epoch_line(r, epoch_stripe(r)), EPOCH_ACTIVE_AT), one);
            e.held |= one;
        }
        acquire_fence();   // with what came before the epoch that was seen, and the announcement before the next look
        uint again = epoch_seen(r);
        if (subgroupAll(again == e.number)) break;
        e.number = again;
    }
    return e;
}

// Puts the words of those lanes that want it into the limbo bag of the subgroup's epoch. False where it has no room:
// the lane's word is then nowhere, and has to stay as it is until no kernel that may read it is under way; so it is up
// to who owns what it stands for. What the word stands for is out of the structure by now: who enters from now on can't
// find it. Collective.
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

// What the subgroup may free: it has the bag of its stripe that is three epochs old, if that is worth looking at, to
// itself until it leaves. Collective.
EpochBag epoch_collect(EpochReclaimer r, Epoch e) {
    EpochBag bag = EpochBag(uvec2(0u), 0u, 0u);
    if (e.retired == 0u) return bag;   // who only reads is spared the look
    uint stripe = epoch_stripe(r), old = e.number + (EPOCH_CLASSES - 3u);
    if (subgroupElect()) {
        uvec2 count = epoch_count(r, stripe, old);
        if (atomic_load(count) != 0u) bag.count = atomic_exchange(count, 0u);
    }
    bag.count = min(subgroupBroadcastFirst(bag.count), r.bag);
    bag.words = epoch_words(r, stripe, old);
    if (bag.count != 0u) {
        full_fence();   // who gets what is freed here, by an atomic, does so behind all who had left
        if (subgroupElect()) atomic_add(address_add(epoch_line(r, stripe), EPOCH_FREED_AT), bag.count);
    }
    return bag;
}

// Whether a bag has words left, and one for each lane that gets one. Collective.
bool epoch_more(EpochBag bag) { return bag.next < bag.count; }
bool epoch_next(inout EpochBag bag, out uint word) {
    uint i = bag.next + gl_SubgroupInvocationID;
    word = 0u;
    bool mine = i < bag.count;
    if (mine) word = atomic_load(address_at(bag.words, i, 2u));
    bag.next += gl_SubgroupSize;
    return mine;
}

// Whether somebody is in the epoch before this one; looks alone, or atomics, which those who come later are behind.
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

// Moves the epoch on, if nobody is in the one before. Collective.
void epoch_advance(EpochReclaimer r, Epoch e) {
    if (subgroupAll(epoch_seen(r) != e.number)) return;   // somebody has done it
    if (epoch_is_held(r, e, true)) return;                // for the cost of a few loads, in most cases
    release_fence();   // who announces itself behind the atomics, sees this epoch, or a later one
    if (epoch_is_held(r, e, false)) return;
    full_fence();   // who sees the next epoch, sees what those had done who have left
    uint next = e.number + 1u == EPOCH_END ? 0u : e.number + 1u;
    if (subgroupElect()) atomic_cas(address_add(r.state, EPOCH_NUMBER_AT), e.number, next);
}

// Leaves the epoch. What was read in it must not be used any more. Collective.
void epoch_leave(EpochReclaimer r, inout Epoch e) {
    if (e.retired == 2u) epoch_advance(r, e);
    release_fence();   // with all that was read and done
    if (subgroupElect()) atomic_add(address_add(epoch_line(r, epoch_stripe(r)), EPOCH_ACTIVE_AT), 0u - e.held);
    e.held = 0u;
}

#endif
