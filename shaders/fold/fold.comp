// Computes the value that each key of a batch has after all operations on it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "fold.glsl"
#include "search.glsl"

layout(push_constant, std430) uniform Push {
    FoldBatch batch;
    uvec2 tiles;       // from tiles.comp; for kinds that update in place only
    uvec2 old;         // one per position: the value of the key before the batch
    uvec2 found;       // one byte per position: 1 if the key was there before the batch, else 0
    uvec2 out_values;  // output, one per position: at the last position of a key its value, unless it is deleted
    uvec2 out_kinds;   // 0, or output, one byte per position: at the last position of a key OP_INSERT, or OP_DELETE if
                       // it is not there
};

shared V values[FOLD_TILE];
shared uint kinds[FOLD_TILE];
shared bool carried_there;
shared V carried_value;

// Reads the operations at n positions from `from` on, at most FOLD_TILE. Collective over the workgroup.
void load(uint from, uint n) {
    for (uint at = workgroup_lane(); at < n; at += WORKGROUP) {
        uint source = fold_source(batch, from + at);
        kinds[at] = KIND;
        if (KIND == OP_MIXED) kinds[at] = byte_load(batch.kinds, source);
        values[at] = V(0u);
        if (kinds[at] != OP_DELETE) values[at] = VKDS_LOAD_AT(batch.values, source);
    }
}

Held before(uint i) { return Held(byte_load(found, i) != 0u, VKDS_LOAD_AT(old, i)); }

// Computes the state of the tile's first key after its operations in earlier tiles, which begin at position `from`.
// Collective over the workgroup.
void carry(uint tile, uint from) {
    uint first = tile * FOLD_TILE;
    if (op_updates_in_place(KIND)) {
        V all = fold_nothing();
        for (uint t = from / FOLD_TILE + workgroup_lane(); t < tile; t += WORKGROUP)
            all = fold_values(all, VKDS_LOAD_AT(tiles, t));
        barrier();   // makes each subgroup converge again
        all = fold_workgroup(all);
        if (workgroup_lane() == 0u) {
            Held held = before(first);
            fold_operation(held, KIND, all);
            carried_there = held.there;
            carried_value = held.value;
        }
        return;
    }
    Held held = before(first);
    uint end = KIND == OP_INSERT_UNIQUE ? min(from + 1u, first) : first;   // only the first operation has an effect
    for (uint at = from; at < end; at += FOLD_TILE) {
        uint n = min(end - at, FOLD_TILE);
        load(at, n);
        barrier();
        for (uint i = 0u; workgroup_lane() == 0u && i < n; i++) fold_operation(held, kinds[i], values[i]);
        barrier();
    }
    if (workgroup_lane() == 0u) {
        carried_there = held.there;
        carried_value = held.value;
    }
}

void main() {
    uint tile = workgroup_index(), first = tile * FOLD_TILE, count = length_of(batch.count);
    if (first >= count) return;   // the whole workgroup
    uint n = min(count - first, FOLD_TILE);
    K key = fold_key(batch, first);
    bool goes_on = false;   // the tile's first key began in an earlier tile, and ends in this one
    if (first != 0u) goes_on = fold_key(batch, first - 1u) == key;
    if (goes_on && first + n < count) goes_on = fold_key(batch, first + n) != key;
    if (goes_on) carry(tile, lower_bound(batch.keys, 0u, first, key));
    load(first, n);
    barrier();
    for (uint item = 0u; item < FOLD_ITEMS; item++) {
        uint at = item * WORKGROUP + workgroup_lane(), i = first + at;
        uint kind = OP_INSERT;
        if (at < n) {
            K own = fold_key(batch, i);
            V value = values[at];
            bool last = i + 1u == count;
            if (!last) last = fold_key(batch, i + 1u) != own;
            if (last) {
                uint from = at;
                if (at != 0u && fold_key(batch, i - 1u) == own) from = lower_bound(batch.keys, first, i, own) - first;
                Held held = before(i);
                if (from == 0u && goes_on) held = Held(carried_there, carried_value);
                for (uint p = from; p <= at; p++) fold_operation(held, kinds[p], values[p]);
                value = held.value;
                kind = held.there ? OP_INSERT : OP_DELETE;
            }
            VKDS_STORE_AT(out_values, i, value);
        }
        barrier();   // makes each subgroup converge again
        if (out_kinds != uvec2(0u)) byte_store(out_kinds, i, count, kind);
    }
}
