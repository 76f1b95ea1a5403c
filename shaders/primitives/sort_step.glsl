// Sort step: the passes of a sort that are made. A pass orders the elements by one digit, and is skipped if all keys
// have the same digit: numbers of 40 bits take five passes, even as keys of 64 bits. Only the device knows the number
// of passes, and so which arrays each of them reads and writes: the last one writes the output.
#ifndef VKDS_SORT_STEP_GLSL
#define VKDS_SORT_STEP_GLSL

#include "key.glsl"

const uint DIGITS = 8u;   // of a key, at most

// A step is a word. It begins with a digit of up to 8 bits, all of them in one word of the key: the first bit, and from
// bit 8 on the mask. 0: there is nothing left to do.
const uint STEP_NEXT_AT = 16u;       // where the number of the next step's digit begins, if there is
const uint STEP_MORE = 1u << 30;     // a next step
const uint STEP_TURNED = 1u << 31;   // it reads what else it would write, and the other way round

uint step_digit(uint step, K key) { return number_bits(key, step & 0xffu, step >> 8 & 0xffu); }

// The number of the next step's digit.
uint step_next(uint step) { return step >> STEP_NEXT_AT & (DIGITS - 1u); }

// Where a step reads, or writes, keys or values: of the two arrays that it may be, the one that is second if it is
// turned. It is asked for where it is used, since registers decide how many tiles are under way.
uvec2 step_array(uint step, uvec2 arrays[2]) { return (step & STEP_TURNED) != 0u ? arrays[1] : arrays[0]; }

#endif
