// Operation: what a lane asks of a dictionary. The codes are those of structures.Kind in Go.
#ifndef VKDS_OPERATION_GLSL
#define VKDS_OPERATION_GLSL

#include "value.glsl"

const uint OP_MIXED = 0u;              // each operation says its own kind
const uint OP_INSERT = 1u;             // insert, or assign to the key that is there (REPLACE)
const uint OP_INSERT_UNIQUE = 2u;      // insert unless the key is there
const uint OP_INSERT_DUPLICATE = 3u;   // insert, whatever is there (INSERT)
const uint OP_INSERT_ADD = 4u;         // insert, or add to the value that is there (value.glsl)
const uint OP_INSERT_MIN = 5u;         // insert, or lower the value that is there
const uint OP_INSERT_MAX = 6u;         // insert, or raise the value that is there
const uint OP_DELETE = 7u;             // the least recently inserted pair of the key
const uint OP_DELETE_ALL = 8u;         // every pair of the key
const uint OP_FIND = 9u;               // the least recently inserted pair of the key
const uint OP_COUNT_ALL = 10u;         // how many pairs of the key

// Of dictionaries that keep their keys in order, concurrent with updates:
const uint OP_SUCCESSOR = 11u;         // the pair of the least key above the key
const uint OP_PREDECESSOR = 12u;       // of the greatest key below it
const uint OP_FLOOR = 13u;             // of the greatest key up to it
const uint OP_CEIL = 14u;              // of the least key from it on
const uint OP_RANGE = 15u;             // the first pairs from the key up to another one
const uint OP_COUNT_RANGE = 16u;       // how many keys there are from the key up to another one

bool op_inserts(uint kind) { return kind >= OP_INSERT && kind <= OP_INSERT_MAX; }

// Whether the operation makes a new value of the one that is there.
bool op_updates_in_place(uint kind) { return kind >= OP_INSERT_ADD && kind <= OP_INSERT_MAX; }

// The value of a key that is there behind an operation that brings one.
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

// Whether the operation asks for the order of keys.
bool op_ordered(uint kind) { return kind >= OP_SUCCESSOR; }

#endif
