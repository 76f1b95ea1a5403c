// Width: macros for keys, values and pairs, so that one source is compiled for 32 bits and, with VKDS_KEY_BITS and
// VKDS_VALUE_BITS 64, for 64 bits.
//
// K is a key and V a value, as in key.glsl. P is a pair as in a slot: p.VKDS_KEY and p.VKDS_VALUE. There are macros for
// addition, order, and loads and stores in arrays; equality is == at both widths. They are macros, without constants of
// their own, so that the SPIR-V for 32 bits is the same as with operators: functions, or another order of constants,
// would have to be measured.
#ifndef VKDS_WIDTH_GLSL
#define VKDS_WIDTH_GLSL

#include "memory.glsl"

#ifndef VKDS_KEY_BITS
#define VKDS_KEY_BITS 32
#endif
#ifndef VKDS_VALUE_BITS
#define VKDS_VALUE_BITS 32
#endif

#if VKDS_KEY_BITS == 64
#define K uvec2
#else
#define K uint
#endif
#if VKDS_VALUE_BITS == 64
#define V uvec2
#else
#define V uint
#endif

#if VKDS_KEY_BITS == 64 && VKDS_VALUE_BITS == 64
#include "number.glsl"
#define VKDS_WIDE 1
#define P uvec4
#define VKDS_KEY xy
#define VKDS_VALUE zw
#define VKDS_BELOW(a, b) number_below(a, b)
#define VKDS_ABOVE(a, b) number_below(b, a)
#define VKDS_UP_TO(a, b) (!number_below(b, a))
#define VKDS_FROM(a, b) (!number_below(a, b))
#define VKDS_PLUS(a, b) number_add(a, b)
#define VKDS_MINUS(a, b) number_subtract(a, b)
#define VKDS_INCREASE(a, by) a = number_add(a, uvec2(by, 0u))
#define VKDS_INCREMENT(a) a = number_add(a, VKDS_ONE)
#define VKDS_NEXT(a) number_add(a, VKDS_ONE)
#define VKDS_BEFORE(a) number_subtract(a, VKDS_ONE)
#define VKDS_LESSER(a, b) number_min(a, b)
#define VKDS_GREATER(a, b) number_max(a, b)
#define VKDS_LAST_WORD w   // of a pair
#define VKDS_SLOT_BYTES 16u
#define VKDS_QUAD_SLOTS 1u   // slots a quad of a node
#define VKDS_FIRST_WORD(a) a.y   // the one that counts most
#define VKDS_SLOT_LOAD(a) plain_load4(a)
#define VKDS_SLOT_STORE(a, p) plain_store4(a, p)
#define VKDS_COHERENT_STORE(a, p) coherent_store4(a, p)
#define VKDS_QUAD_KEYS xy   // the first words of the keys of a quad of slots
#define VKDS_ONE uvec2(1u, 0u)
#define VKDS_LAST_BUT_ONE uvec2(~0u - 1u, ~0u)
#define VKDS_WORDS(n) (2u * (n))   // words of so many keys
#define VKDS_PER_QUAD 2u   // keys, or values, a quad
#define VKDS_QUAD_LOG 1
#define VKDS_SHIFT 3u   // log2 of the bytes of a key or a value
#define VKDS_LOAD(a) plain_load2(a)
#define VKDS_STORE(a, v) plain_store2(a, v)
#define VKDS_LOAD_NEAR(base, i) plain_load2_near(base, i)
#define VKDS_STORE_NEAR(base, i, v) plain_store2_near(base, i, v)
#define VKDS_LOAD_AT(base, i) plain_load2(address_at(base, i, 3u))
#define VKDS_STORE_AT(base, i, v) plain_store2(address_at(base, i, 3u), v)
#else
#define VKDS_WIDE 0
#define P uvec2
#define VKDS_KEY x
#define VKDS_VALUE y
#define VKDS_BELOW(a, b) ((a) < (b))
#define VKDS_ABOVE(a, b) ((a) > (b))
#define VKDS_UP_TO(a, b) ((a) <= (b))
#define VKDS_FROM(a, b) ((a) >= (b))
#define VKDS_PLUS(a, b) ((a) + (b))
#define VKDS_MINUS(a, b) ((a) - (b))
#define VKDS_INCREASE(a, by) a += by
#define VKDS_INCREMENT(a) a++
#define VKDS_NEXT(a) ((a) + 1u)
#define VKDS_BEFORE(a) ((a) - 1u)
#define VKDS_LESSER(a, b) min(a, b)
#define VKDS_GREATER(a, b) max(a, b)
#define VKDS_LAST_WORD y
#define VKDS_SLOT_BYTES 8u
#define VKDS_QUAD_SLOTS 2u
#define VKDS_FIRST_WORD(a) a
#define VKDS_SLOT_LOAD(a) plain_load2(a)
#define VKDS_SLOT_STORE(a, p) plain_store2(a, p)
#define VKDS_COHERENT_STORE(a, p) coherent_store2(a, p)
#define VKDS_QUAD_KEYS xz
#define VKDS_ONE 1u
#define VKDS_LAST_BUT_ONE ~0u - 1u
#define VKDS_WORDS(n) n
#define VKDS_PER_QUAD 4u
#define VKDS_QUAD_LOG 2
#define VKDS_SHIFT 2u
#define VKDS_LOAD(a) plain_load(a)
#define VKDS_STORE(a, v) plain_store(a, v)
#define VKDS_LOAD_NEAR(base, i) plain_load_near(base, i)
#define VKDS_STORE_NEAR(base, i, v) plain_store_near(base, i, v)
#define VKDS_LOAD_AT(base, i) plain_load_at(base, i)
#define VKDS_STORE_AT(base, i, v) plain_store_at(base, i, v)
#endif

// Whether one atomic can change a pair.
#if VKDS_INT64_ATOMICS && !VKDS_WIDE
#define VKDS_PAIR_ATOMICS 1
#else
#define VKDS_PAIR_ATOMICS 0
#endif

#endif
