// Sort step: the passes of a sort. A pass orders the elements by one digit. It is skipped if all keys have the same
// digit: numbers of 40 bits take five passes, even as keys of 64 bits. Only the device knows the number of passes, and
// so which arrays each pass reads and writes: the last one writes the output.
#ifndef VKDS_SORT_STEP_GLSL
#define VKDS_SORT_STEP_GLSL

#include "key.glsl"

const uint DIGITS = 8u;   // the greatest number of digits of a key

// A step is a word. It begins with a digit of up to 8 bits, which are all in one word of the key: bits 0 to 7 are the
// digit's first bit, bits 8 to 15 its mask. A step of 0 means that there is nothing left to do.
const uint STEP_NEXT_AT = 16u;       // from this bit on: the number of the next step's digit, if there is one
const uint STEP_MORE = 1u << 30;     // there is a next step
const uint STEP_TURNED = 1u << 31;   // the step reads and writes the second arrays (step_array)

uint step_digit(uint step, K key) { return number_bits(key, step & 0xffu, step >> 8 & 0xffu); }

// The number of the next step's digit.
uint step_next(uint step) { return step >> STEP_NEXT_AT & (DIGITS - 1u); }

// The array of keys or values that a step reads or writes, of the two possible ones. Call it where the array is used,
// because registers limit the number of tiles in flight.
uvec2 step_array(uint step, uvec2 arrays[2]) { return (step & STEP_TURNED) != 0u ? arrays[1] : arrays[0]; }

#endif
