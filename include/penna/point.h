/* SPDX-License-Identifier: MIT
 *
 * point.h: static tracepoints.
 *
 *     PENNA_EVENT(provider, name, arguments...)
 *
 * Put it anywhere in C11 or C++20: functions, templates, lambdas, headers. provider and name are identifiers; 0 to 12
 * arguments, each evaluated once, armed or not: numbers, enums, bool, char, float, double, pointers, C strings and
 * char arrays; in C++ also what has data() and size() of char (std::string, std::string_view).
 *
 * One site, three consumers: `penna record` (typed values, in-process), and through its SDT note gdb, perf and bpftrace.
 * Disabled it is two nops; no register is saved and nothing moved but what the SDT note names.
 * Signal-safe, thread-safe. Strings are read up to 255 bytes, only when armed.
 * Reference: https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation (the note, version 3).
 *
 * Knobs, before the include: PENNA_POINT_NOP10 adds the 10-byte nop that kernels after 6.18 turn into a fast uprobe.
 * In C with clang before 17, two points in different scopes of one function with a VLA or a cleanup variable do not
 * compile (a bug of its asm goto).
 */
#ifndef PENNA_POINT_H
#define PENNA_POINT_H

#include "penna/detail/each.h"
#ifdef __cplusplus
#include "penna/detail/args_cxx.h"
#else
#include "penna/detail/args_c.h"
#endif
#if defined(__x86_64__) && defined(__LP64__) && defined(__ELF__)
#include "penna/arch/x86_64_point.h"
#endif

#ifdef PENNA_ARCH_HAS_POINTS
#define PENNA_EVENT(...) PENNA_POINT_(__COUNTER__, PENNA_SITE_EVENT, PENNA_ARG_COUNT(__VA_ARGS__), __VA_ARGS__, ~)
#else /* evaluates the arguments, and nothing else */
#define PENNA_EVENT(...) PENNA_NO_POINT(PENNA_ARG_COUNT(__VA_ARGS__), __VA_ARGS__, ~)
#endif

/* ---- Implementation ----------------------------------------------------------------------------------------------- */

/* clang-format off */
#define PENNA_NO_POINT(n, provider, name, ...) do { PENNA_EACH(n)(PENNA_EVALUATE, PENNA_NOTHING, __VA_ARGS__) } while (0)
#define PENNA_EVALUATE(i, arg) (void)(arg);

#define PENNA_POINT_(id, kind, n, provider, name, ...) PENNA_POINT(id, kind, n, provider, name, __VA_ARGS__)

#define PENNA_POINT(id, kind, n, provider, name, ...)                                                                \
  do {                                                                                                               \
    PENNA_EACH(n)(PENNA_HOLD, PENNA_NOTHING, __VA_ARGS__)                                                            \
    PENNA_IF_ARMED(id, kind, n, PENNA_STATE(id, provider, name), PENNA_TEXT(n, provider, name, __VA_ARGS__)) {       \
      if (PENNA_HAS_TEXT(n)) {                                                                                       \
        uint64_t penna_values[2 * n + 1];                                                                            \
        uint64_t* penna_to = penna_values;                                                                           \
        PENNA_EACH(n)(PENNA_PUT_ONE, PENNA_NOTHING, __VA_ARGS__)                                                     \
        (void)penna_to;                                                                                              \
        PENNA_ASM_VALUES(PENNA_STATE(id, provider, name), PENNA_TYPES(n), penna_values);                             \
      } else {                                                                                                       \
        uint64_t* penna_record;                                                                                      \
        PENNA_ASM_RESERVE(PENNA_STATE(id, provider, name), PENNA_TYPES(n), penna_record);                            \
        if (penna_record) {                                                                                          \
          PENNA_EACH(n)(PENNA_STORE_ONE, PENNA_NOTHING, __VA_ARGS__)                                                 \
          /* Release: pairs with the collector's acquire load of the header. */                                      \
          __atomic_store_n((uint8_t*)penna_record, (uint8_t)PENNA_POINT_COMMIT, __ATOMIC_RELEASE);                   \
        }                                                                                                            \
      }                                                                                                              \
    }                                                                                                                \
    if (PENNA_HAS_TEXT(n)) __asm__ volatile("" : : : "memory"); /* the bytes, too, are there for who looks */        \
    __asm__ inline volatile(PENNA_ASM_PROBE(n, #provider, #name)                                                     \
                            : : PENNA_EACH_OF(n, PENNA_SDT_OPERANDS, PENNA_COMMA)); \
  } while (0)

#define PENNA_PUT_ONE(i, arg) penna_to = PENNA_PUT(penna_to, penna_##i, arg);
#define PENNA_STORE_ONE(i, unused) penna_record[2 + i] = PENNA_WORD_OF(penna_##i);
#define PENNA_SDT_OPERANDS(i, unused) \
  [size##i] "i"(PENNA_SDT_SIZE(penna_##i)), [arg##i] PENNA_SDT_OPERAND(PENNA_SDT_VALUE(penna_##i))

/* Constants of a site. The state's label tells sites apart, also where link-time optimisation puts many translation
 * units into one assembler file; copies of one site share it. */
#define PENNA_TYPES(n) ((uint64_t)0 PENNA_EACH_OF(n, PENNA_TYPE_BITS, PENNA_NOTHING))
#define PENNA_TYPE_BITS(i, unused) | ((uint64_t)PENNA_TYPE_OF(penna_##i) << (4 * i))
/* In two halves: gcc prints no constant above 31 bits. */
#define PENNA_TYPE_OPERANDS(types_) [types] "i"((types_) & 0xfffffff), [more] "i"((types_) >> 28)
#define PENNA_HAS_TEXT(n) (0 PENNA_EACH_OF(n, PENNA_IS_TEXT, PENNA_NOTHING))
#define PENNA_IS_TEXT(i, unused) || PENNA_TYPE_OF(penna_##i) == PENNA_ARG_STRING
#define PENNA_TEXT(n, provider, name, ...) \
  #provider "\0" #name "\0" __FILE__ PENNA_EACH(n)(PENNA_ARG_NAME, PENNA_NOTHING, __VA_ARGS__)
#define PENNA_ARG_NAME(i, arg) "\0" #arg
#define PENNA_STATE(id, provider, name) \
  ".Lpenna_state_" #provider "_" #name "_" PENNA_STRING_OF(__LINE__) "_" #id "_%c[types]_%c[more]"

#define PENNA_SITE_OPERANDS(kind_, n, text_)                                                                         \
  [text] "i"(text_), [bytes] "i"(sizeof(text_)), [line] "i"(__LINE__), [count] "i"(n), [kind] "i"(kind_),            \
  PENNA_TYPE_OPERANDS(PENNA_TYPES(n))

/* The slot, and a condition that is true when it jumps. In C the label stands before the cold block. In C++ clang before
 * 17 takes every asm goto of a function to jump to every label of it, across the constructors of locals: there the slot
 * is inside a function of its own, which is inlined. */
#ifdef __cplusplus
#define PENNA_IF_ARMED(id, kind, n, state, text)                                                                     \
  struct penna_site_##id {                                                                                           \
    __attribute__((always_inline, no_instrument_function)) static bool armed() {                                     \
      __asm__ inline volatile goto(PENNA_ASM_SITE(state, "penna_armed") : : PENNA_SITE_OPERANDS(kind, n, text) : : penna_armed); \
      return false;                                                                                                  \
    penna_armed:                                                                                                     \
      return true;                                                                                                   \
    }                                                                                                                \
  };                                                                                                                 \
  if (__builtin_expect(penna_site_##id::armed(), 0))
#else
#define PENNA_IF_ARMED(id, kind, n, state, text)                                                                     \
  __asm__ inline volatile goto(PENNA_ASM_SITE(state, "penna_armed_" #id)                                             \
                               : : PENNA_SITE_OPERANDS(kind, n, text) : : penna_armed_##id);                         \
  if (0)                                                                                                             \
  penna_armed_##id: PENNA_COLD_LABEL
#ifdef __clang__
#define PENNA_COLD_LABEL
#else
#define PENNA_COLD_LABEL __attribute__((cold))
#endif
#endif

#define PENNA_ASM_SITE(state, armed)                                                                                 \
  PENNA_ASM_SLOT(".Lpenna_slot_%=")                                                                                  \
  PENNA_ASM_MODULE                                                                                                   \
  ".ifndef " state "\n"                                                                                              \
  ".pushsection .bss.penna,\"aw\",@nobits\n"                                                                         \
  ".balign 8\n"                                                                                                      \
  state ": .zero 16\n"                                                                                               \
  ".popsection\n"                                                                                                    \
  ".endif\n"                                                                                                         \
  ".pushsection penna_sites,\"ao?\",@progbits,.Lpenna_slot_%=\n"  /* goes where the function goes: COMDAT, --gc-sections */ \
  ".balign 8\n"                                                                                                      \
  ".4byte .Lpenna_slot_%= - ., %l[" armed "] - ., %c[text] - ., " state " - .\n"                                     \
  ".4byte %c[line]\n"                                                                                                \
  ".byte %c[count], %c[kind]\n"                                                                                      \
  ".2byte %c[bytes]\n"                                                                                               \
  ".8byte %c[types] + (%c[more] << 28)\n"                                                                                               \
  ".popsection\n"

/* Once a module: entries, note, constructor and destructor, in one COMDAT group. Every cold block names the entries, so
 * the linker keeps the group exactly where there is a site. */
#define PENNA_ASM_MODULE                                                                                             \
  ".ifndef penna_module_entries\n"                                                                                   \
  ".pushsection .bss.penna_module,\"awG\",@nobits,penna_module_entries,comdat\n"                                     \
  ".balign 8\n"                                                                                                      \
  ".weak penna_module_entries\n"                                                                                     \
  ".hidden penna_module_entries\n"                                                                                   \
  ".type penna_module_entries,@object\n"                                                                             \
  ".size penna_module_entries,16\n"                                                                                  \
  "penna_module_entries: .zero 16\n"                                                                                 \
  ".popsection\n"                                                                                                    \
  ".pushsection .note.penna,\"aG\",@note,penna_module_entries,comdat\n"                                              \
  ".balign 4\n"                                                                                                      \
  ".4byte 6, 16, 0x50\n"                                                                                                \
  ".asciz \"Penna\"\n"                                                                                               \
  ".balign 4\n"                                                                                                      \
  ".hidden __start_penna_sites\n"                                                                                    \
  ".hidden __stop_penna_sites\n"                                                                                     \
  ".weak penna_module_description\n"                                                                                 \
  ".hidden penna_module_description\n"                                                                               \
  "penna_module_description: .4byte 1, __start_penna_sites - ., __stop_penna_sites - ., penna_module_entries - .\n"  \
  ".popsection\n"                                                                                                    \
  PENNA_ASM_HOOK("penna_module_begin", "penna_agent_module_loaded", ".init_array.00101", "@init_array")              \
  PENNA_ASM_HOOK("penna_module_end", "penna_agent_module_unloaded", ".fini_array.00101", "@fini_array")              \
  ".endif\n"

#define PENNA_ASM_HOOK(symbol, function, array, array_type)                                                          \
  ".weak " function "\n"                                                                                             \
  ".pushsection .text.penna_module,\"axG\",@progbits,penna_module_entries,comdat\n"                                  \
  ".balign 16\n"                                                                                                     \
  ".weak " symbol "\n"                                                                                               \
  ".hidden " symbol "\n"                                                                                             \
  ".type " symbol ",@function\n"                                                                                     \
  ".reloc ., R_X86_64_NONE, _.stapsdt.base\n" symbol ": " PENNA_ASM_CALL_AGENT(function)                                                                         \
  ".size " symbol ", . - " symbol "\n"                                                                               \
  ".popsection\n"                                                                                                    \
  ".pushsection " array ",\"awG\"," array_type ",penna_module_entries,comdat\n"                                      \
  ".balign 8\n"                                                                                                      \
  PENNA_ASM_POINTER symbol "\n"                                                                                      \
  ".popsection\n"

/* The probe: its nop, and the SDT note that points at it. */
#ifdef PENNA_POINT_NOP10
#define PENNA_ASM_PROBE_TAIL PENNA_ASM_PROBE_NOP10
#else
#define PENNA_ASM_PROBE_TAIL
#endif
#define PENNA_ASM_PROBE(n, provider, name)                                                                           \
  ".Lpenna_probe_%=: " PENNA_ASM_PROBE_NOP PENNA_ASM_PROBE_TAIL                                                      \
  ".pushsection .note.stapsdt,\"o?\",@note,.Lpenna_probe_%=\n"                                                                         \
  ".balign 4\n"                                                                                                      \
  ".4byte 8, 992f - 991f, 3\n"                                                                                       \
  ".asciz \"stapsdt\"\n"                                                                                             \
  "991: .8byte .Lpenna_probe_%=, _.stapsdt.base, 0\n"                                                                \
  ".asciz \"" provider "\"\n"                                                                                        \
  ".asciz \"" name "\"\n"                                                                                            \
  ".asciz \"" PENNA_EACH_OF(n, PENNA_ASM_SDT_ARG, PENNA_SPACE) "\"\n"            \
  "992: .balign 4\n"                                                                                                 \
  ".popsection\n"                                                                                                    \
  ".ifndef _.stapsdt.base\n"                                                                                         \
  ".pushsection .stapsdt.base,\"aG\",@progbits,.stapsdt.base,comdat\n"                                               \
  ".weak _.stapsdt.base\n"                                                                                           \
  ".hidden _.stapsdt.base\n"                                                                                         \
  "_.stapsdt.base: .space 1\n"                                                                                       \
  ".size _.stapsdt.base, 1\n"                                                                                        \
  ".popsection\n"                                                                                                    \
  ".endif\n"
#define PENNA_ASM_SDT_ARG(i, unused) "%c[size" #i "]@%" PENNA_SDT_NAME "[arg" #i "]"
/* clang-format on */

#endif
