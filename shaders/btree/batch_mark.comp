// Marks which operations of a batch land, and which start anew (btree_batch_marks.glsl).
#version 460
#extension GL_GOOGLE_include_directive : require
#define BATCH_LEAVES 1
#include "btree_batch_marks.glsl"
#define BITMAP_BITS BATCH_GROUP
#include "bitmap.glsl"

layout(push_constant, std430) uniform Push {
    Batch batch;
};

void main() {
    uint group = workgroup_index(), lane = workgroup_lane();
    uint i = group * BATCH_GROUP + lane;
    bool in_batch = i < batch.count;
    uint key = 0u, before = 0u, next = 0u, kind = 0u, kind_before = 0u;
    bool first = i == 0u, last = i + 1u == batch.count;
    if (in_batch) {
        key = batch_key(batch, i);
        kind = batch_kind(batch, i);
        if (!last) next = batch_key(batch, i + 1u);
        if (!first) {
            before = batch_key(batch, i - 1u);
            kind_before = batch_kind(batch, i - 1u);
        }
    }
    first = first || before != key;
    last = last || next != key;

    bitmap_clear();
    barrier();
    bitmap_set_all(lane, in_batch && last && kind != OP_DELETE);
    barrier();
    uint words = BATCH_GROUP / 32u, word = group * words + lane;
    if (lane <= words) {
        uint sum = 0u;
        for (uint w = 0u; w < lane; w++) sum += uint(bitCount(bitmap_words[w]));
        if (lane == words) {
            if (group < marks_groups(batch.count)) plain_store2(address_at(marks_groups_at(batch), group, 3u), uvec2(sum, 0u));
        } else if (word < marks_words(batch.count)) {
            plain_store2(address_at(batch.marks, word, 3u), uvec2(bitmap_words[lane], sum));
        }
    }
    if (batch.kind != OP_INSERT) {
        barrier();
        bitmap_clear();
        barrier();
        bitmap_set_all(lane, in_batch && (first || kind == OP_INSERT || kind == OP_INSERT_UNIQUE && kind_before == OP_DELETE));
        barrier();
        if (lane < words && word < marks_words(batch.count)) plain_store_at(marks_anew_at(batch), word, bitmap_words[lane]);
    }
}
