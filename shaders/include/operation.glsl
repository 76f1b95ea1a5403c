// Operation: the kinds of operations on dictionaries. The codes are those of structures.Kind in Go.
#ifndef VKDS_OPERATION_GLSL
#define VKDS_OPERATION_GLSL

#include "value.glsl"

const uint OP_MIXED = 0u;              // each operation of the batch has its own kind
const uint OP_INSERT = 1u;             // insert; if the key exists, assign the value to it (the paper's REPLACE)
const uint OP_INSERT_UNIQUE = 2u;      // insert, unless the key exists
const uint OP_INSERT_DUPLICATE = 3u;   // insert, even if the key exists (the paper's INSERT)
const uint OP_INSERT_ADD = 4u;         // insert; if the key exists, add to its value (value.glsl)
const uint OP_INSERT_MIN = 5u;         // insert; if the key exists, set its value to the lesser of both
const uint OP_INSERT_MAX = 6u;         // insert; if the key exists, set its value to the greater of both
const uint OP_DELETE = 7u;             // delete the least recently inserted pair of the key
const uint OP_DELETE_ALL = 8u;         // delete every pair of the key
const uint OP_FIND = 9u;               // find the least recently inserted pair of the key
const uint OP_COUNT_ALL = 10u;         // count the pairs of the key

// Ordered queries, of ordered dictionaries only, concurrent with updates:
const uint OP_SUCCESSOR = 11u;         // find the pair with the least key above the key
const uint OP_PREDECESSOR = 12u;       // find the pair with the greatest key below the key
const uint OP_FLOOR = 13u;             // find the pair with the greatest key not above the key
const uint OP_CEIL = 14u;              // find the pair with the least key not below the key
const uint OP_RANGE = 15u;             // find the first pairs from the key up to another key
const uint OP_COUNT_RANGE = 16u;       // count the keys from the key up to another key

bool op_inserts(uint kind) { return kind >= OP_INSERT && kind <= OP_INSERT_MAX; }

// Whether the operation computes the new value from the old one.
bool op_updates_in_place(uint kind) { return kind >= OP_INSERT_ADD && kind <= OP_INSERT_MAX; }

// The value of an existing key after an insertion of `value`.
uint op_value(uint kind, uint old, uint value) {
    if (kind == OP_INSERT_ADD) return VKDS_BY_VALUES(old + value, value_add(old, value));
    if (kind == OP_INSERT_MIN) return VKDS_BY_VALUES(min(old, value), value_min(old, value));
    if (kind == OP_INSERT_MAX) return VKDS_BY_VALUES(max(old, value), value_max(old, value));
    return kind == OP_INSERT_UNIQUE ? old : value;
}
uvec2 op_value(uint kind, uvec2 old, uvec2 value) {
    if (kind == OP_INSERT_ADD) return VKDS_BY_VALUES(number_add(old, value), value_add(old, value));
    if (kind == OP_INSERT_MIN) return VKDS_BY_VALUES(number_min(old, value), value_min(old, value));
    if (kind == OP_INSERT_MAX) return VKDS_BY_VALUES(number_max(old, value), value_max(old, value));
    return kind == OP_INSERT_UNIQUE ? old : value;
}

// Whether the operation is an ordered query.
bool op_ordered(uint kind) { return kind >= OP_SUCCESSOR; }

#endif
