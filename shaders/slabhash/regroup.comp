// Copies a table whose buckets share slabs into another one with the same pool and hash seed, but new base slabs: what
// rehash.comp does for the others.
//
// Each tile fills one new group, bucket by bucket. It reads the lists of the old buckets that share hashes with the new
// bucket, and keeps the keys that belong to both. So it reads a slab that several old buckets share once for each of
// them. If the pool is full, the tile counts its group as failed, and reads the list to its end. The same dispatch may
// then be repeated with a larger pool. A list without an end (with more slabs than there can be) is counted, too, and
// ends the tile.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "rehash.glsl"
#include "group.glsl"
#include "invocation.glsl"

// The place where the tile writes, in the list of the new bucket.
SlabWriter writer;
uint place;
uint filled_of_four;                  // the slots in use of the slab that four buckets share
uvec2 chain;                          // the slab that the chain ends with, or the last one of the group,
uint filled_of_chain;                 // and its slots in use
uint tail;                            // the reference to that slab; SLAB_NULL for the last one of the group

// Notes how far the writer's slab is filled.
void keep_filled() {
    if (place == SLAB_LINKED) {
        chain = writer.slab;
        filled_of_chain = writer.filled;
    } else if (place >= SLAB_OF_FOUR) {
        filled_of_four = writer.filled;
    }
    if (tile_lane() == 0u) plain_store(address_add(writer.slab, SLAB_AUX_AT), slab_aux(writer.filled));
}

// Moves the writers of tiles with `want` from a full slab to the next one. Returns false if the pool had no slab.
bool advance(inout SlabCursor cursor, bool want) {
    bool linked = want && !slab_filters(place);
    if (want && !linked) {
        slab_go_on(hash.pool, SLAB_NULL, writer.slab, place);
        writer.filled = place == SLAB_LINKED ? filled_of_chain : filled_of_four;
        if (place == SLAB_LINKED) writer.slab = chain;
    }
    uint next = SLAB_NULL;
    if (linked) next = plain_load(address_add(writer.slab, SLAB_NEXT_AT));
    bool allocates = linked && next == SLAB_NULL;
    if (subgroupAny(allocates)) {
        uint fresh = slab_allocate(hash.pool, cursor, allocates && tile_lane() == 0u);
        if (allocates && tile_lane() == 0u && fresh != SLAB_NULL) {
            plain_store(address_add(writer.slab, SLAB_NEXT_AT), fresh);
            VKDS_EVENT(true, TRACE_LINK, trace_line(writer.slab), trace_line(slab_address(hash.pool, fresh)))
        }
        fresh = tile_shuffle(fresh, 0u);
        if (allocates) next = fresh;
    }
    if (linked && next != SLAB_NULL) {
        writer = SlabWriter(slab_address(hash.pool, next), 0u);
        tail = next;
    }
    return !linked || next != SLAB_NULL;
}

void main() {
    uint tile = invocation_index() / TILE;
    uint group = first + tile, bucket = group << SLAB_GROUP_SHIFT;
    SlabHash from = rehash_from();
    SlabCursor cursor = slab_cursor();
    bool busy = tile < count && bucket < hash.buckets, failed_here = false, endless = false;
    uint source = 0u, last = 0u;   // old buckets
    uvec2 slab = uvec2(0u);        // of the old bucket
    uint at = 0u, left = 0u;       // its place, and the slabs that may follow
    bool begins = true;            // a new bucket
    filled_of_four = 0u;
    tail = SLAB_NULL;
    chain = address_at(slab_hash_base(hash, bucket), SLAB_OF_ALL, SLAB_SHIFT);
    filled_of_chain = 0u;
    while (subgroupAny(busy)) {
        if (begins) {
            uvec2 sources = rehash_sources(bucket);
            source = sources.x;
            last = sources.y;
            place = slab_hash_place(bucket);
            writer = SlabWriter(slab_hash_base(hash, bucket), 0u);
            if ((place & 3u) == 0u) filled_of_four = 0u;
#ifdef VKDS_TRACE
            slab_writer_mask = slab_hash_encode(hash, bucket, K(0u));
#endif
            slab = slab_hash_base(from, source);
            at = slab_hash_place(source);
            left = (from.pool.blocks << 10) + 2u;
            begins = false;
        }
        Node node = node_load(slab, busy);
        uint live = busy ? slab_live_mask(node) : 0u;
        uint mask = rehash_take(from, source, bucket, live, node);
        SlabRanks ranks = slab_ranks(mask);
        // Slab by slab, as many keys as have room there.
        uint done = 0u;
        while (subgroupAny(busy && !failed_here && done < ranks.total)) {
            bool writes = busy && !failed_here && done < ranks.total;
            bool full = writes && writer.filled == SLAB_SLOTS;
            if (subgroupAny(full) && !advance(cursor, full)) {
                failed_here = true;
                writes = false;
            }
            uint part = writes ? min(SLAB_SLOTS - writer.filled, ranks.total - done) : 0u;
            [[unroll]] for (uint j = 0u; j < NODE_QUADS; j++) {
                uint rank = ranks.before[j];
                [[unroll]] for (uint s = 0u; s < SLAB_STEP_SLOTS; s++) {
                    uint m = j * SLAB_STEP_SLOTS + s;
                    if (((mask >> m) & 1u) == 0u) continue;
                    if (rank >= done && rank < done + part) {
                        uint to = writer.filled + rank - done;
                        slab_write(writer.slab, to, node, m);
                        group_pass_to(slab_hash_base(hash, group << SLAB_GROUP_SHIFT), slab_hash_place(bucket), place,
                                     slab_lane_key(node, m));
                    }
                    rank++;
                }
            }
            done += part;
            if (part != 0u) {
                writer.filled += part;
                keep_filled();
            }
        }
        uint next = slab_next(node);
        if (busy) {
            // Behind a filter without a clear bit there is none of this bucket's keys.
            bool more = next != SLAB_NULL;
            endless = more && left == 0u;
            if (endless || failed_here && !more) {
                busy = false;
            } else if (more) {
                slab_go_on(from.pool, next, slab, at);
                left--;
            } else if (source < last) {
                source++;
                slab = slab_hash_base(from, source);
                at = slab_hash_place(source);
                left = (from.pool.blocks << 10) + 2u;
            } else {
                bucket++;
                begins = true;
                busy = (bucket & (SLAB_GROUP - 1u)) != 0u;
                if (!busy && tile_lane() == 0u) plain_store(slab_hash_tail(hash, group), tail);
            }
        }
    }
    rehash_count(failed_here, endless);
}
