// B-link-tree, batched updates: marks the operations that leave a pair, and those that determine its value.
//
// The last operation with a key decides whether the key has a pair afterwards. If so, its position is marked as one
// that lands: by a bit, with the number of such positions before it. The value comes from the last operation that
// starts anew, which means that earlier values don't matter: the key's first operation, an OP_INSERT, or an
// OP_INSERT_UNIQUE after an OP_DELETE. Those are marked by another bit, if the batch has other kinds than OP_INSERT.
#ifndef VKDS_BTREE_BATCH_MARKS_GLSL
#define VKDS_BTREE_BATCH_MARKS_GLSL

#include "batch.glsl"
#include "results.glsl"

// The marks of the positions 0 … count: two words for 32 positions (a bit for each that lands; how many land before
// them in their group), two words per group (how many land before it; unused), one word for 32 positions (a bit for
// each that starts anew).
const uint MARKS_ITEMS = 4u;   // positions that a lane marks
const uint MARKS_GROUP = MARKS_ITEMS * BATCH_GROUP;
uint marks_words(uint count) { return count / 32u + 1u; }
uint marks_groups(uint count) { return count / MARKS_GROUP + 1u; }
uvec2 marks_groups_at(Batch b) { return address_at(b.marks, marks_words(b.count), 3u); }
uvec2 marks_anew_at(Batch b) { return address_at(b.marks, marks_words(b.count) + marks_groups(b.count) + 1u, 3u); }

// The index in the batch of the operation at a position. The payload must have indices.
uint batch_source(Batch b, uint i) { return min(plain_load_near(b.payload, i), b.count - 1u); }

// The kind of the operation at a position.
uint batch_kind(Batch b, uint i) {
    uint kind = b.kind;
    if (kind == OP_MIXED) kind = byte_load(b.kinds, batch_source(b, i));
    return kind;
}

V batch_value(Batch b, uint i) {
    if (b.indexed != 0u) return VKDS_LOAD_NEAR(b.values, batch_source(b, i));
    return VKDS_LOAD_NEAR(b.payload, i);
}

// The number of earlier positions that land.
uint marks_before(Batch b, uint i) {
    if (b.kind == OP_DELETE) return 0u;
    uvec2 w = plain_load2(address_at(b.marks, i / 32u, 3u));
    uint groups = plain_load2(address_at(marks_groups_at(b), i / MARKS_GROUP, 3u)).x;
    return groups + w.y + uint(bitCount(w.x & ((1u << (i & 31u)) - 1u)));
}

// Whether a position lands. It must be the last one of its key.
bool marks_lands(Batch b, uint i) {
    if (b.kind != OP_MIXED) return b.kind != OP_DELETE;
    return (plain_load2(address_at(b.marks, i / 32u, 3u)).x >> (i & 31u) & 1u) != 0u;
}

// The first position from i on that lands, or `end`.
uint marks_next(Batch b, uint i, uint end) {
    if (b.kind == OP_DELETE || i >= end) return end;
    uint bits = plain_load2(address_at(b.marks, i / 32u, 3u)).x >> (i & 31u);
    uint next = i + uint(findLSB(bits));
    if (bits == 0u) {
        // There may be many equal keys, so this searches for the position where the count changes.
        uint before = marks_before(b, i);
        uint low = i, high = end;   // at position low+1 the count is still that at i, for all lower ones
        while (low < high) {
            uint middle = low + ((high - low) >> 1);
            if (marks_before(b, middle + 1u) == before) low = middle + 1u;
            else high = middle;
        }
        next = low;
    }
    return min(next, end);
}

// The result of all operations with a key, if the last of them, at position i, lands.
struct Landing {
    V value;
    bool keeps;   // the key keeps its value if it was there before
};

Landing batch_landing(Batch b, uint i) {
    Landing l = Landing(V(0u), false);
    uint from = i;
    if (b.kind != OP_INSERT) {
        uvec2 anew = marks_anew_at(b);
        uint word = i / 32u;
        uint bits = plain_load_near(anew, word) & (~0u >> (31u - (i & 31u)));
        while (bits == 0u && word != 0u) bits = plain_load_near(anew, --word);
        from = word * 32u + uint(findMSB(bits | 1u));
        l.keeps = batch_kind(b, from) == OP_INSERT_UNIQUE;
        if (l.keeps && from != 0u) l.keeps = batch_key(b, from - 1u) != batch_key(b, from);
    }
    l.value = batch_value(b, from);
    return l;
}

#endif
