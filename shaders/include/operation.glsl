// Operation: what a lane asks of a dictionary. The codes are those of structures.Kind in Go.
#ifndef VKDS_OPERATION_GLSL
#define VKDS_OPERATION_GLSL

const uint OP_MIXED = 0u;              // each operation says its own kind
const uint OP_INSERT = 1u;             // insert, or assign to the key that is there (REPLACE)
const uint OP_INSERT_UNIQUE = 2u;      // insert unless the key is there
const uint OP_INSERT_DUPLICATE = 3u;   // insert, whatever is there (INSERT)
const uint OP_ADD = 4u;                // insert, or add to the value that is there, modulo 2^32
const uint OP_MIN = 5u;                // insert, or lower the value that is there
const uint OP_MAX = 6u;                // insert, or raise the value that is there
const uint OP_DELETE = 7u;             // the least recently inserted pair of the key
const uint OP_DELETE_ALL = 8u;         // every pair of the key
const uint OP_FIND = 9u;               // the least recently inserted pair of the key
const uint OP_COUNT = 10u;             // how many pairs of the key

bool op_inserts(uint kind) { return kind >= OP_INSERT && kind <= OP_MAX; }

#endif
