// Sort plan: the steps of a sort, chosen from the counts of its digits.
//
// If keys have many digits, the upper ones alone may be almost unique. Then only passes for these are made, and a local
// sort (sort_local.comp) sorts the short runs of keys with equal upper digits. If the local sort finds a long run out
// of order, all passes are made.
#ifndef VKDS_SORT_PLAN_GLSL
#define VKDS_SORT_PLAN_GLSL

#include "sort_step.glsl"

// The plan, in words: the passes that write the output, or none; the passes that are made if a local sort fails; the
// passes by upper digits; and the local sort.
const uint UPPER_STEPS = 5u;
const uint STEPS_AT = 0u, SPARE_STEPS_AT = DIGITS, UPPER_STEPS_AT = 2u * DIGITS;
const uint LOCAL_STEP_AT = UPPER_STEPS_AT + UPPER_STEPS;

// The word of the local sort: first the first bit of the upper digits. 0: there is no local sort.
const uint LOCAL_FIRST_AT = 8u;      // from this bit on: the number of the first pass, if all are made after all
const uint LOCAL_MADE = 1u << 31;

const uint FIRST_PLACE = 1u << 31;   // set in a digit's first place, to which tiles look back (sort_look_back.glsl)

#endif
