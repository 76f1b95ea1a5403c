// Checks the versions of a tree, in a read-only phase: for each open snapshot, the contents of each leaf at that time
// must be kept, once, where searches find them.
//
// The nodes are those that list.comp finds from the root on. The first pass follows the chain of versions of each leaf,
// and the list of free versions, and marks versions. The second pass checks the marks. Leaves that were split from one
// another share versions. So the leaves that lead to a version are consecutive, and each of its pairs is in the range
// of one of them. Where the chains of two neighbours have met, they stay one. So a version is marked by the first of
// the leaves that lead to it, and that is found by comparing with the left neighbour.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "listed.glsl"
#include "version_open.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint MARKS = 0;   // 1: the second pass

layout(push_constant, std430) uniform Push {
    BTree tree;
    Listed listed;            // all nodes are among its inner ones
    BTreeVersions versions;   // at the time of the next updates
    OpenSnapshots open;
    uvec2 report;             // for each rule a word, how often it is broken; then for each rule a word, the least
                              // number that breaks it, ~0 before
    uvec2 marks;              // MARK_… of each version, 0 before
    uint slabs;               // the number of slabs with stamps
};

const uint RULES = 10u;

// Rules, in the order of those for versions in Go's btree.Rule.
const uint STAMP = 0u;
const uint ORDER = 1u;
const uint FREED = 2u;
const uint MISSING = 3u;
const uint LEAD = 4u;
const uint MEET = 5u;
const uint PAIRS = 6u;
const uint HIGH = 7u;
const uint FREE_LIST = 8u;
const uint LOST = 9u;

// Byte offsets of the marks of a version.
const uint MARKS_SHIFT = 4u;
const uint MARK_FIRSTS_AT = 0u;   // the number of leaves that lead to it while their left neighbours don't
const uint MARK_PAIRS_AT = 4u;    // the number of its pairs in the ranges of leaves that lead to it
const uint MARK_FREE_AT = 8u;     // how often it is in the list of free versions
const uint MARK_ENDS_AT = 12u;    // bits, set by leaves that lead to it:

const uint ENDS_LAST = 1u;           // by the last leaf of the tree, whose free slots have another key
const uint ENDS_WITH_VERSION = 2u;   // by a leaf with the version's high
const uint ENDS_BEYOND = 4u;         // by a leaf with a greater high

uvec2 mark_at(uint version, uint at) { return address_add(address_at(marks, version, MARKS_SHIFT), at); }

// Notes a broken rule. `where` is the number of a slab or a version.
void check(uint rule, bool holds, uint where) {
    if (holds) return;
    atomic_add(address_at(report, rule, 2u), 1u);
    uvec2 least = address_at(report, RULES + rule, 2u);
    for (uint round = slabs + versions.count; round != 0u; round--) {
        uint now = atomic_load(least);
        if (now <= where || atomic_cas(least, now, where) == now) return;
    }
}

BTreeStamp stamp_of(uint number) {
    if (number >= slabs) return BTreeStamp(0u, SLAB_NULL);
    uvec2 stamp = plain_load2(address_at(versions.stamps, number, BTREE_STAMP_SHIFT));
    return BTreeStamp(stamp.x, stamp.y);
}

// The version to which a stamp leads; SLAB_NULL if no open snapshot is older than the stamp.
uint version_before(BTreeStamp stamp) {
    return stamp.time > open.oldest && stamp.older < versions.count ? stamp.older : SLAB_NULL;
}

K version_key(uint version, uint slot) {
    P pair = VKDS_SLOT_LOAD(btree_slot(btree_version_at(versions, version), slot));
    return pair.VKDS_KEY;
}

K version_high(uint version) {
    return VKDS_LOAD(address_add(btree_version_at(versions, version), BTREE_VERSION_HIGH_AT));
}

// Marks the pairs of a version that are in a leaf's range.
void mark_pairs(uint version, NodeHeader leaf) {
    uint own = 0u;
    [[dont_unroll]] for (uint i = 0u; i < BTREE_SLOTS; i++) {
        K key = version_key(version, i);
        own += VKDS_FROM(key, leaf.low) && VKDS_UP_TO(key, leaf.high) ? 1u : 0u;
    }
    if (own != 0u) atomic_add(mark_at(version, MARK_PAIRS_AT), own);
    K high = version_high(version);
    uint ends = leaf.high == K(~0u) ? ENDS_LAST : 0u;
    ends |= leaf.high == high ? ENDS_WITH_VERSION : VKDS_ABOVE(leaf.high, high) ? ENDS_BEYOND : 0u;
    if (ends != 0u) atomic_or(mark_at(version, MARK_ENDS_AT), ends);
}

// Whether a leaf's BTreeLead agrees with the version that it describes.
bool leads_right(uint slab) {
    BTreeLead lead = btree_lead(versions, tree.pool, slab);
    uint version = version_before(lead.stamp);
    if (version == SLAB_NULL) return true;
    bool right = lead.since == btree_version_stamp(versions, version).time;
#if !VKDS_WIDE
    right = right && lead.high == version_high(version);
#endif
    return right;
}

void check_chain(uint number, NodeHeader leaf, BTreeStamp leader) {
    for (uint steps = versions.count; leader.time > open.oldest && steps != 0u; steps--) {
        uint version = version_before(leader);
        check(MISSING, version != SLAB_NULL, number);
        if (version == SLAB_NULL) return;
        Version v = version_load(versions, version);
        check(FREED, v.until != 0u, number);
        if (v.until == 0u) return;
        bool descends = v.stamp.time < v.until && v.until <= leader.time;
        check(ORDER, descends, number);
        if (!descends) return;
        check(MISSING, version_opened_before(open, v.until) == version_opened_before(open, leader.time), number);
        mark_pairs(version, leaf);
        leader = v.stamp;
    }
}

// Marks the versions to which a leaf leads and its left neighbour doesn't. Times descend along both chains.
void mark_firsts(uint left, BTreeStamp leaf) {
    uint version = version_before(leaf);
    for (uint steps = 2u * versions.count; version != SLAB_NULL && version != left && steps != 0u; steps--) {
        Version own = version_load(versions, version);
        Version other = Version(BTreeStamp(0u, SLAB_NULL), 0u);
        if (left != SLAB_NULL) other = version_load(versions, left);
        if (other.until > own.until) {
            left = version_before(other.stamp);
        } else {
            atomic_add(mark_at(version, MARK_FIRSTS_AT), 1u);
            version = version_before(own.stamp);
        }
    }
}

void check_node(uint slab) {
    uint number = pool_number(slab);
    NodeHeader node = node_header(tree.pool, slab);
    bool leaf = btree_level(node.meta) == 0u;
    BTreeStamp stamp = stamp_of(number);
    bool right = number < slabs && stamp.time <= versions.now && (leaf || stamp.time <= open.oldest);
    if (right && stamp.time > open.oldest) right = btree_was_changed(versions, number);
    check(STAMP, right, number);
    if (!leaf || !right) return;
    check_chain(number, node, stamp);
    check(LEAD, leads_right(slab), number);
    if (node.low == K(0u)) mark_firsts(SLAB_NULL, stamp);
    if (pool_has(tree.pool, node.link)) mark_firsts(version_before(stamp), stamp_of(pool_number(node.link)));
}

// Marks the version at place i of the list of free versions.
void mark_free(uint i) {
    uint n = plain_load(versions.free);
    if (i == 0u) check(FREE_LIST, n <= versions.count, 0u);
    if (i >= n) return;
    uint version = plain_load_at(versions.free, i + 1u);
    check(FREE_LIST, version < versions.count, i);
    if (version < versions.count) atomic_add(mark_at(version, MARK_FREE_AT), 1u);
}

void check_marks(uint version) {
    uvec4 mark = plain_load4(mark_at(version, 0u));
    Version v = version_load(versions, version);
    check(FREE_LIST, mark.z == (v.until == 0u ? 1u : 0u), version);
    if (v.until == 0u) return;
    check(MEET, mark.x <= 1u, version);
    check(LOST, mark.x != 0u || !version_needed(open, v), version);
    if (mark.x == 0u) return;
    check(HIGH, (mark.w & (ENDS_WITH_VERSION | ENDS_BEYOND)) == ENDS_WITH_VERSION, version);
    K empty_key = btree_empty_key((mark.w & ENDS_LAST) != 0u ? K(~0u) : K(0u));
    uint live = 0u;
    bool twice = false;
    [[dont_unroll]] for (uint i = 0u; i < BTREE_SLOTS; i++) {
        K key = version_key(version, i);
        if (key == empty_key) continue;
        live++;
        [[dont_unroll]] for (uint j = 0u; j < i; j++) twice = twice || version_key(version, j) == key;
    }
    check(PAIRS, mark.y == live && !twice, version);
}

// Each invocation checks nodes and versions, one after another.
void main() {
    uint all = gl_NumWorkGroups.x * gl_NumWorkGroups.y * WORKGROUP;
    uint nodes = MARKS == 0u ? listed_inner(listed) : 0u;
    for (uint i = invocation_index(); i < nodes; i += all) {
        uint slab = plain_load_at(listed.inner, i);
        if (pool_has(tree.pool, slab)) check_node(slab);   // only damaged memory has a reference that is not valid
    }
    for (uint i = invocation_index(); i < versions.count; i += all) {
        if (MARKS == 0u) mark_free(i);
        else check_marks(i);
    }
}
