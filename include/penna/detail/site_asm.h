/* SPDX-License-Identifier: MIT
 *
 * site_asm.h: the assembly of a site: its slot, its record in the table, its state, and what a module has once. The
 * structs are those of point_abi.h.
 * Why directives: the table needs no relocation and no linker script, and its records come and go with the code that
 * they describe (flags o and ?: COMDAT, --gc-sections).
 * Invariant: the state's label distinguishes sites, also where link-time optimisation puts many translation units into
 * one assembler file; copies of one site share it.
 */
#ifndef PENNA_DETAIL_SITE_ASM_H
#define PENNA_DETAIL_SITE_ASM_H

#include "penna/detail/sdt_asm.h"
#include "penna/point_abi.h"

#ifdef PENNA_ARCH_HAS_POINTS

/* clang-format off */
/* Constants of a site as operands. In two halves: gcc prints no constant above 31 bits. */
#define PENNA_SHAPE_OPERANDS(n)                                                                                      \
  [types] "i"(PENNA_SITE_TYPES(n) & 0xfffffff), [more] "i"(PENNA_SITE_TYPES(n) >> 28), [layout] PENNA_SYMBOL_CONSTRAINT(PENNA_SITE_LAYOUT(n))
#define PENNA_SITE_OPERANDS(kind_, number_, n, text_)                                                                \
  [text] PENNA_SYMBOL_CONSTRAINT(text_), [bytes] "i"(sizeof(text_)), [line] "i"(__LINE__), [count] "i"(PENNA_SITE_VALUES(n)),            \
  [kind] "i"(kind_), [number] "i"(PENNA_CAST(int, number_)), PENNA_SHAPE_OPERANDS(n)

#define PENNA_TEXT(n, provider, name, ...) \
  #provider "\0" #name "\0" __FILE__ PENNA_EACH(n)(PENNA_ARG_TEXT, PENNA_NOTHING, __VA_ARGS__) "\0\1" PENNA_LAST(n)(__VA_ARGS__, ~)
#define PENNA_ARG_TEXT(i, arg) "\0" #arg
#define PENNA_STATE(id, provider, name) \
  ".Lpenna_state_" #provider "_" #name "_" PENNA_STRING_OF(__LINE__) "_" #id "_%c[types]_%c[more]_%" PENNA_SYMBOL_NAME "[layout]"

/* `armed`: the label to which the armed slot jumps, as assembly; `more`: records of sites without a slot. */
#define PENNA_ASM_SITE(state, more, armed)                                                                           \
  PENNA_ASM_SLOT(".Lpenna_slot_%=", armed)                                                                           \
  PENNA_ASM_MODULE                                                                                                   \
  PENNA_ASM_SITE_RECORD(state, ".Lpenna_slot_%= - .", armed " - .", "%c[kind]", "%c[count]",                         \
                        "%c[types] + (%c[more] << 28)")                                                              \
  more

/* A site with a record and a state, but no code to patch. */
#define PENNA_ASM_SITE_WITHOUT_SLOT(state, kind) PENNA_ASM_SITE_RECORD(state, "0", "0", kind, "0", "0")

#define PENNA_ASM_SITE_RECORD(state, slot, armed, kind, count, types)                                                \
  ".ifndef " state "\n"                                                                                              \
  ".pushsection .bss.penna,\"aw\",%%nobits\n"                                                                        \
  ".balign 8\n"                                                                                                      \
  state ": .zero 32\n"                                                                                               \
  ".popsection\n"                                                                                                    \
  ".endif\n"                                                                                                         \
  ".pushsection penna_sites,\"ao?\",%%progbits,.Lpenna_slot_%=\n"                                                    \
  ".balign 8\n"                                                                                                      \
  ".4byte " slot ", " armed ", %" PENNA_SYMBOL_NAME "[text] - ., " state " - .\n"                                                        \
  ".ifeq %c[more] & (1 << 24)\n.4byte 0\n.else\n.4byte %" PENNA_SYMBOL_NAME "[layout] - .\n.endif\n" /* PENNA_TYPES_HAVE_LAYOUT */       \
  ".4byte %c[line], %c[number]\n"                                                                                    \
  ".byte " count ", " kind "\n"                                                                                      \
  ".2byte %c[bytes]\n"                                                                                               \
  ".8byte " types "\n"                                                                                               \
  ".popsection\n"

/* Once per module: entries, note, constructor and destructor, in one COMDAT group. Every cold block refers to the
 * entries, so the linker keeps the group exactly where there is a site; PENNA_ASM_KEEP does so where there is no cold
 * block. */
#define PENNA_ASM_MODULE                                                                                             \
  PENNA_ASM_KEEP("penna_module_entries")                                                                             \
  ".ifndef penna_module_entries\n"                                                                                   \
  ".pushsection .bss.penna_module,\"awG\",%%nobits,penna_module_entries,comdat\n"                                    \
  ".balign 8\n"                                                                                                      \
  ".weak penna_module_entries\n"                                                                                     \
  ".hidden penna_module_entries\n"                                                                                   \
  ".type penna_module_entries,%%object\n"                                                                            \
  ".size penna_module_entries,24\n"                                                                                  \
  "penna_module_entries: .zero 24\n"                                                                                 \
  ".popsection\n"                                                                                                    \
  ".pushsection .note.penna,\"aG\",%%note,penna_module_entries,comdat\n"                                             \
  ".balign 4\n"                                                                                                      \
  ".4byte 6, 16, 0x50\n"                                                                                             \
  ".asciz \"Penna\"\n"                                                                                               \
  ".balign 4\n"                                                                                                      \
  ".hidden __start_penna_sites\n"                                                                                    \
  ".hidden __stop_penna_sites\n"                                                                                     \
  ".weak penna_module_description\n"                                                                                 \
  ".hidden penna_module_description\n"                                                                               \
  "penna_module_description: .4byte 2, __start_penna_sites - ., __stop_penna_sites - ., penna_module_entries - .\n"  \
  ".popsection\n"                                                                                                    \
  PENNA_ASM_HOOK("penna_module_begin", "penna_agent_module_loaded", "penna_own_module_loaded",                       \
                 ".init_array.00101", "%%init_array")                                                                \
  PENNA_ASM_HOOK("penna_module_end", "penna_agent_module_unloaded", "penna_own_module_unloaded",                     \
                 ".fini_array.00101", "%%fini_array")                                                                \
  ".endif\n"

#define PENNA_ASM_HOOK(symbol, agent, own, array, array_type)                                                        \
  ".weak " agent "\n"                                                                                                \
  ".weak " own "\n" /* not hidden, though all definitions are: gold takes an absent hidden one for the image's base */ \
  ".pushsection .text.penna_module,\"axG\",%%progbits,penna_module_entries,comdat\n"                                 \
  ".balign 16\n"                                                                                                     \
  ".weak " symbol "\n"                                                                                               \
  ".hidden " symbol "\n"                                                                                             \
  ".type " symbol ",%%function\n"                                                                                    \
  symbol ": " PENNA_ASM_CALL_FIRST(agent, own)                                                                       \
  ".size " symbol ", . - " symbol "\n"                                                                               \
  ".popsection\n"                                                                                                    \
  ".pushsection " array ",\"awG\"," array_type ",penna_module_entries,comdat\n"                                      \
  ".balign " PENNA_ASM_POINTER_BYTES "\n" /* no more: zeros between two entries would be called */                    \
  PENNA_ASM_POINTER symbol "\n"                                                                                      \
  ".popsection\n"

/* A note without sites: a module that has none, and the agent, refer to the switchboard through it. */
#define PENNA_ASM_CONTROL_NOTE                                                                                       \
  ".ifndef penna_control_entries\n"                                                                                  \
  ".pushsection .bss.penna_control,\"awG\",%%nobits,penna_control_entries,comdat\n"                                  \
  ".balign 8\n"                                                                                                      \
  ".weak penna_control_entries\n"                                                                                    \
  ".hidden penna_control_entries\n"                                                                                  \
  ".type penna_control_entries,%%object\n"                                                                           \
  ".size penna_control_entries,24\n"                                                                                 \
  "penna_control_entries: .zero 24\n"                                                                                \
  ".popsection\n"                                                                                                    \
  ".pushsection .note.penna,\"aG\",%%note,penna_control_entries,comdat\n"                                            \
  ".balign 4\n"                                                                                                      \
  ".4byte 6, 16, 0x50\n"                                                                                             \
  ".asciz \"Penna\"\n"                                                                                               \
  ".balign 4\n"                                                                                                      \
  ".4byte 2, 0, -4, penna_control_entries - .\n" /* as penna_module_description; first site = end */                 \
  ".popsection\n"                                                                                                    \
  ".endif\n"

/* ---- The slot in the language ---------------------------------------------------------------------------------------
 * PENNA_IF_ARMED(...) statement: runs it when the slot jumps. PENNA_IF_HEARD: when it jumps, or a tool has raised the
 * semaphore; PENNA_BY_SLOT(id) distinguishes the two. Operands must be constants.
 *   C       asm goto, with the label before the cold block.
 *   clang before 17 assumes that every asm goto of a function jumps to every label of it, across constructors,
 *           variables with a cleanup (a PENNA_SPAN is one) and variable length arrays, and rejects that. So the slot
 *           lies where clang does not look: in C++ inside a separate function, which is inlined; in C inside the
 *           length of an array type that something is cast to, which is evaluated like any other expression. */
#ifdef __cplusplus
#define PENNA_IF_ARMED(id, state, more, ...)                                                                               \
  struct penna_site_##id {                                                                                           \
    __attribute__((always_inline, no_instrument_function)) static bool armed() {                                     \
      __asm__ inline volatile goto(PENNA_ASM_SITE(state, more, "%l[penna_armed]") : : __VA_ARGS__ : : penna_armed);        \
      return false;                                                                                                  \
    penna_armed:                                                                                                     \
      return true;                                                                                                   \
    }                                                                                                                \
  };                                                                                                                 \
  if (__builtin_expect(penna_site_##id::armed(), 0))
#define PENNA_IF_HEARD(id, state, semaphore, ...)                                                                    \
  struct penna_site_##id {                                                                                           \
    __attribute__((always_inline, no_instrument_function)) static int heard() {                                      \
      __asm__ inline volatile goto(PENNA_ASM_SITE(state, "", "%l[penna_armed]")                                          \
                                   PENNA_ASM_IF_HEARD(semaphore, "%l[penna_heard]")                                  \
                                   : : __VA_ARGS__ : PENNA_HEARD_CLOBBERS : penna_armed, penna_heard);                               \
      return 0;                                                                                                      \
    penna_armed:                                                                                                     \
      return 1;                                                                                                      \
    penna_heard:                                                                                                     \
      return 2;                                                                                                      \
    }                                                                                                                \
  };                                                                                                                 \
  if (const int penna_heard_##id = penna_site_##id::heard(); __builtin_expect(penna_heard_##id, 0))
#define PENNA_BY_SLOT(id) (penna_heard_##id == 1)

#elif defined(__clang__) && __clang_major__ < 17
#define PENNA_UNSEEN(statements)                                                                                     \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wvla\"")                                     \
  (void)(char(*)[__extension__({ statements 1; })])0;                                                                \
  _Pragma("clang diagnostic pop")
#define PENNA_IF_ARMED(id, state, more, ...)                                                                               \
  int penna_armed_by_##id = 0;                                                                                       \
  PENNA_UNSEEN(                                                                                                      \
      __asm__ inline volatile goto(PENNA_ASM_SITE(state, more, "%l[penna_armed_" #id "]")                                  \
                                   : : __VA_ARGS__ : : penna_armed_##id);                                                  \
      if (0) penna_armed_##id: penna_armed_by_##id = 1;)                                                             \
  if (__builtin_expect(penna_armed_by_##id, 0))
#define PENNA_IF_HEARD(id, state, semaphore, ...)                                                                    \
  int penna_heard_by_##id = 0;                                                                                       \
  PENNA_UNSEEN(                                                                                                      \
      __asm__ inline volatile goto(PENNA_ASM_SITE(state, "", "%l[penna_armed_" #id "]")                                    \
                                   PENNA_ASM_IF_HEARD(semaphore, "%l[penna_heard_" #id "]")                          \
                                   : : __VA_ARGS__ : PENNA_HEARD_CLOBBERS : penna_armed_##id, penna_heard_##id);           \
      if (0) penna_armed_##id: penna_heard_by_##id = 1;                                                              \
      if (0) penna_heard_##id: penna_heard_by_##id = 2;)                                                             \
  if (__builtin_expect(penna_heard_by_##id, 0))
#define PENNA_BY_SLOT(id) (penna_heard_by_##id == 1)

#else
#ifdef __clang__
#define PENNA_COLD_LABEL
#else
#define PENNA_COLD_LABEL __attribute__((cold))
#endif
#define PENNA_IF_ARMED(id, state, more, ...)                                                                               \
  __asm__ inline volatile goto(PENNA_ASM_SITE(state, more, "%l[penna_armed_" #id "]") : : __VA_ARGS__ : : penna_armed_##id); \
  if (0)                                                                                                             \
  penna_armed_##id: PENNA_COLD_LABEL
#define PENNA_IF_HEARD(id, state, semaphore, ...)                                                                    \
  int penna_by_slot_##id = 0;                                                                                        \
  __asm__ inline volatile goto(PENNA_ASM_SITE(state, "", "%l[penna_armed_" #id "]")                                      \
                               PENNA_ASM_IF_HEARD(semaphore, "%l[penna_heard_" #id "]")                              \
                               : : __VA_ARGS__ : PENNA_HEARD_CLOBBERS : penna_armed_##id, penna_heard_##id);                         \
  if (0) {                                                                                                           \
  penna_armed_##id: PENNA_COLD_LABEL;                                                                                \
    penna_by_slot_##id = 1;                                                                                          \
    goto penna_heard_##id;                                                                                           \
  }                                                                                                                  \
  if (0)                                                                                                             \
  penna_heard_##id: PENNA_COLD_LABEL
#define PENNA_BY_SLOT(id) penna_by_slot_##id
#endif
/* clang-format on */

#endif
#endif
