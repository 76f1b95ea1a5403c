// Marks the operations of a batch that land, and those that start anew (batch_marks.glsl).
#version 460
#extension GL_GOOGLE_include_directive : require
#define BATCH_LEAVES 1
#include "batch_marks.glsl"
#define BITMAP_BITS MARKS_GROUP
#include "../primitives/bitmap.glsl"

layout(push_constant, std430) uniform Push {
    PushedBatch pushed;
};

void main() {
    Batch batch = batch_taken(pushed);
    uint group = workgroup_index(), lane = workgroup_lane();
    uint count = batch_count(pushed);
    uint words = MARKS_GROUP / 32u, first_word = group * words;
    bool lands[MARKS_ITEMS], anew[MARKS_ITEMS];
    [[unroll]] for (uint k = 0u; k < MARKS_ITEMS; k++) {
        uint i = group * MARKS_GROUP + k * BATCH_GROUP + lane;
        lands[k] = anew[k] = false;
        if (i < count) {
            K key = batch_key(batch, i), next = ~key;
            if (i + 1u < count) next = batch_key(batch, i + 1u);
            lands[k] = next != key;
            if (batch.kind != OP_INSERT) {
                K before = ~key;
                uint kind = batch_kind(batch, i), kind_before = kind;
                if (i != 0u) {
                    before = batch_key(batch, i - 1u);
                    kind_before = batch_kind(batch, i - 1u);
                }
                lands[k] = lands[k] && kind != OP_DELETE;
                anew[k] = before != key || kind == OP_INSERT || kind == OP_INSERT_UNIQUE && kind_before == OP_DELETE;
            }
        }
    }

    bitmap_clear();
    barrier();
    [[unroll]] for (uint k = 0u; k < MARKS_ITEMS; k++) bitmap_set_all(k * BATCH_GROUP + lane, lands[k]);
    barrier();
    for (uint word = lane; word <= words; word += WORKGROUP) {
        uint sum = 0u;
        for (uint w = 0u; w < word; w++) sum += uint(bitCount(bitmap_words[w]));
        if (word == words) {
            if (group < marks_groups(batch.count))
                plain_store2(address_at(marks_groups_at(batch), group, 3u), uvec2(sum, 0u));
        } else if (first_word + word < marks_words(batch.count)) {
            plain_store2(address_at(batch.marks, first_word + word, 3u), uvec2(bitmap_words[word], sum));
        }
    }
    if (batch.kind != OP_INSERT) {
        barrier();
        bitmap_clear();
        barrier();
        [[unroll]] for (uint k = 0u; k < MARKS_ITEMS; k++) bitmap_set_all(k * BATCH_GROUP + lane, anew[k]);
        barrier();
        for (uint word = lane; word < words; word += WORKGROUP)
            if (first_word + word < marks_words(batch.count))
                plain_store_near(marks_anew_at(batch), first_word + word, bitmap_words[word]);
    }
}
