// Sort plan: the steps of a sort, which the count of its digits decides on.
//
// Where keys have many digits, the uppermost few nearly tell them apart. Then passes are made by these alone, and a
// local sort (sort_local.comp) orders the short runs of keys in which they are the same. If a run isn't short, which is
// found out then, all passes are made after all.
#ifndef VKDS_SORT_PLAN_GLSL
#define VKDS_SORT_PLAN_GLSL

#include "sort_step.glsl"

// The plan, in words: the passes that write the output, or none; those that are made if a local sort fails; those by
// the upper digits; and the local sort.
const uint UPPER_STEPS = 5u;
const uint STEPS_AT = 0u, SPARE_STEPS_AT = DIGITS, UPPER_STEPS_AT = 2u * DIGITS;
const uint LOCAL_STEP_AT = UPPER_STEPS_AT + UPPER_STEPS;

// A local sort begins with the first bit of the upper digits. 0: there is none to do.
const uint LOCAL_FIRST_AT = 8u;      // where the number of the first pass's digit begins, if all are made after all
const uint LOCAL_MADE = 1u << 31;

const uint FIRST_PLACE = 1u << 31;   // with a digit's first place: what its tiles look back to (sort_look_back.glsl)

#endif
