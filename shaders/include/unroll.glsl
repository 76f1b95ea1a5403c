// Unroll: loops that are unrolled on GPUs, which keeps the arrays that they index in registers. The compilers of CPU
// devices take minutes for unrolled loops: for them, define VKDS_ROLLED.
#ifndef VKDS_UNROLL_GLSL
#define VKDS_UNROLL_GLSL

#ifdef VKDS_ROLLED
#define VKDS_UNROLL [[dont_unroll]]
#else
#define VKDS_UNROLL [[unroll]]
#endif

#endif
