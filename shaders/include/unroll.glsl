// Loops that are unrolled: on a GPU that keeps in registers what they go over. The compilers of CPU devices take
// minutes for what it gives: there, define VKDS_ROLLED.
#ifndef VKDS_UNROLL_GLSL
#define VKDS_UNROLL_GLSL

#ifdef VKDS_ROLLED
#define VKDS_UNROLL [[dont_unroll]]
#else
#define VKDS_UNROLL [[unroll]]
#endif

#endif
