// Combine: does equal operations of a subgroup on one key as one operation.
//
// If a few keys have a large part of a batch, their operations contend for a few cache lines. So the
// lanes of a subgroup with the same operation on the same key elect a leader, which does it once for
// all of them. The others' operations count as done just after the leader's.
#ifndef VKDS_COMBINE_GLSL
#define VKDS_COMBINE_GLSL

#include "operation.glsl"
#include "results.glsl"
#include "value_subgroup.glsl"

const uint COMBINE_KEYS = 4u;   // the most keys that are combined in a subgroup

struct Combined {
    uint leader;   // the lane that does this lane's operation
    bool leads;    // it is this one
};

// Elects leaders. Afterwards do the operations of the enabled lanes that lead. Collective over the subgroup.
//
// Only keys that are equal in two neighbouring lanes are combined. That costs almost nothing if keys are
// distinct, and rarely misses a key that is in many lanes.
Combined combine(uint kind, K key, inout V value, bool enabled) {
    Combined c = Combined(gl_SubgroupInvocationID, true);
    bool can = enabled
        && (kind == OP_INSERT || kind == OP_INSERT_UNIQUE || kind == OP_INSERT_ADD || kind == OP_INSERT_MIN
            || kind == OP_INSERT_MAX);
    bool open = can;   // not yet in a group
    uint beside = gl_SubgroupInvocationID ^ 1u;
    K key_beside = subgroupShuffle(key, beside);
    if (!subgroupAny(can && key_beside == key)) return c;
    for (uint i = 0u; i < COMBINE_KEYS; i++) {
        // No subgroup operation may stand behind an && or a ?: of lanes' own values: those are branches.
        uint kind_beside = subgroupShuffle(open ? kind : OP_MIXED, beside);
        bool meets = open && key_beside == key && kind_beside == kind;
        if (!subgroupAny(meets)) break;
        uvec4 candidates = subgroupBallot(meets);
        uint first = subgroupBallotFindLSB(candidates);
        K group_key = subgroupShuffle(key, first);
        uint group_kind = subgroupShuffle(kind, first);
        bool member = open && key == group_key && kind == group_kind;
        uint leader = subgroupBallotFindLSB(subgroupBallot(member));
        uint last = subgroupBallotFindMSB(subgroupBallot(member));
        V sum = VKDS_BY_VALUES(VKDS_SUBGROUP_ADD(member ? value : V(0u)),
                               value_subgroup_add(member ? value : value_zero()));
        V least = VKDS_BY_VALUES(VKDS_SUBGROUP_MIN(member ? value : V(~0u)),
                                 value_subgroup_min(member ? value : value_greatest()));
        V most = VKDS_BY_VALUES(VKDS_SUBGROUP_MAX(member ? value : V(0u)),
                                value_subgroup_max(member ? value : value_least()));
        V latest = subgroupShuffle(value, last);
        if (member) {
            open = false;
            c.leader = leader;
            c.leads = gl_SubgroupInvocationID == leader;
            if (c.leads)
                value = kind == OP_INSERT_ADD ? sum : kind == OP_INSERT_MIN ? least : kind == OP_INSERT_MAX ? most
                      : kind == OP_INSERT ? latest : value;
        }
    }
    return c;
}

// The status of every lane's operation, from its own status or its leader's. Collective over the subgroup.
uint combine_status(Combined c, uint kind, uint status) {
    uint leaders = subgroupShuffle(status, c.leader);
    if (c.leads) return status;
    return leaders == STATUS_PENDING ? STATUS_PENDING : kind == OP_INSERT_UNIQUE ? STATUS_FOUND : STATUS_ASSIGNED;
}

#endif
