// Shared slabs: buckets of a slab hash that share the slabs behind their base slabs, so that few slots stay empty.
//
// 16 buckets are a group of 21 base slabs. Each bucket has a slab of its own, four buckets share the next one, and all
// of them the last one, behind which the group's slabs from the pool follow. So a bucket's list is its own slab, the
// one of its four, the one of the group, and then a chain. Lists meet, but a slab still fills in the order of each list
// that it is in, and a key has one list: the protocol of slots (slab.glsl) stays as it is.
//
// A place is the number of a slab in its group, 0 to 20. Before the last place, the link of a slab (its word at
// SLAB_NEXT_AT) refers to nothing, because the next slab is known. It is a filter instead: each key has one of 31 bits,
// and an insertion clears the bit before it goes on to the next slab. So a search that meets a full slab, and the bit
// of its key set, ends there. The last bit is always set. The address of the next slab is made with that bit, as it was
// read or as the atomic that cleared another bit returned it. So the next slab is accessed after the link was read or
// changed (order by address, memory.glsl). Therefore whoever sees a key in a later slab sees the bit clear, too, and no
// fence is needed.
// A model is in test/models/slab_shared_test.go.
#ifndef VKDS_SLAB_SHARED_GLSL
#define VKDS_SLAB_SHARED_GLSL

#include "constants.glsl"
#include "slab.glsl"

layout(constant_id = VKDS_ID_SLAB_SHARED) const uint SLAB_SHARED = 0;   // 1: buckets share slabs

const uint SLAB_GROUP_SHIFT = 4u;                       // log2 of the buckets of a group
const uint SLAB_GROUP = 1u << SLAB_GROUP_SHIFT;
const uint SLAB_OF_FOUR = SLAB_GROUP;                   // the places of the slabs of four buckets each,
const uint SLAB_OF_ALL = SLAB_OF_FOUR + SLAB_GROUP / 4u;   // and of the slab of all
const uint SLAB_GROUP_SLABS = SLAB_OF_ALL + 1u;

// The place of a slab whose link is a reference: the last one of a group, all slabs of a chain, and every slab of lists
// that share nothing.
const uint SLAB_LINKED = SLAB_OF_ALL;

bool slab_filters(uint place) { return SLAB_SHARED != 0u && place < SLAB_LINKED; }

// The hash of filters. The keys of a bucket have similar hashes by the function that chose the bucket.
uint slab_filter_hash(uint key) { return key * 0x9e3779b1u; }
uint slab_filter_hash(uvec2 key) { return slab_filter_hash(key.x) + key.y * 0x85ebca6bu; }

// The bit of a key, as it is stored, in the link of the slab at a place.
uint slab_filter_bit(uint place, K key) {
    uint bits = slab_filter_hash(key) >> (place < SLAB_OF_FOUR ? 27u : 22u);
    return 1u << min(bits & 31u, 30u);
}

// Whether a list ends for a key at the slab at a place, if that has no free slot. `link` is the slab's link.
bool slab_link_ends(uint link, uint place, K key) {
    return slab_filters(place) ? (link & slab_filter_bit(place, key)) != 0u : link == SLAB_NULL;
}

uint slab_next_place(uint place) { return place < SLAB_OF_FOUR ? SLAB_OF_FOUR + (place >> 2) : SLAB_OF_ALL; }

// Whether the next slab of a list belongs to an earlier bucket of the group: to the first of those that share it.
bool slab_next_is_shared(uint place) { return (place & 3u) != 0u; }

// Moves to the next slab of a list, which does not end here. `link` is the link of this one, or what slab_filter_pass
// returned.
void slab_go_on(SlabPool pool, uint link, inout uvec2 slab, inout uint place) {
    if (slab_filters(place)) {
        uint next = slab_next_place(place);
        slab = address_at(slab, (next - place) * (link >> 31), SLAB_SHIFT);
        place = next;
    } else {
        slab = slab_address(pool, link);
    }
}

// Clears a key's bit in the link of a slab, for an insertion that goes on to the next slab. Returns the link as it was.
uint slab_filter_pass(uvec2 slab, uint place, K key) {
    return atomic_and(address_add(slab, SLAB_NEXT_AT), ~slab_filter_bit(place, key));
}

#endif
