/* SPDX-License-Identifier: MIT
 *
 * point.h: static tracepoints.
 *
 *     PENNA_EVENT(provider, name, arguments...)        something happened here
 *     PENNA_EVENT_LAZY(provider, name, arguments...)   the same, but evaluates its arguments only while armed
 *     PENNA_SPAN(provider, name, arguments...)         from here to the end of the scope, however it is left
 *     PENNA_ARG(name, value)                           an argument called `name` instead of by its source text
 *
 * Put them anywhere in C11 or C++17: functions, templates, lambdas, headers. provider and name are identifiers; 0 to 12
 * arguments, each evaluated once (EVENT: armed or not): numbers, enums, bool, char, float, double, pointers, C strings,
 * arrays; in C++ also what has data() and size() (std::string, std::string_view, std::array, std::vector, std::span),
 * and described structs, whose fields count as arguments. Strings and arrays are copied, up to 255 bytes, only when
 * armed; longer ones are cut and marked as cut.
 *
 * One site, three consumers: `penna record` (typed values, in-process), and through its SDT note gdb, perf and
 * bpftrace. A disabled EVENT is a slot, which is one instruction without effect, and a nop: no register is saved and
 * only what the SDT note names is moved. LAZY is a slot and a test of its semaphore, which tools increment; its nop for
 * tools is in the cold block. Thread-safe and async-signal-safe.
 *
 * SPAN is a declaration: put it in a block, not directly after an if. Its end is recorded when the scope is left by its
 * closing brace, return, break, goto or an exception; not by longjmp: then the span ends with whatever encloses it. Its
 * nop for tools is at the beginning. In C++ its end is a slot; in C a variable and a test of it.
 *
 * Without support for the processor, or with PENNA_DISABLE_POINTS: EVENT and SPAN evaluate their arguments and do
 * nothing else, LAZY does not even evaluate them. Where only probes are supported (docs/embedding.md says where),
 * EVENT and SPAN are PENNA_SDT.
 * Options, before the include: PENNA_POINT_NOP10 adds the 10-byte nop that kernels after 6.18 turn into a fast uprobe.
 * PENNA_POINT_BY_VALUES as 1 hands all values over at once instead of storing them into the record: for firmware.h.
 */
#ifndef PENNA_POINT_H
#define PENNA_POINT_H

#include "penna/sdt.h"

#include "penna/detail/site_asm.h"

#ifndef PENNA_POINT_BY_VALUES
#define PENNA_POINT_BY_VALUES 0
#endif

#ifdef PENNA_ARCH_HAS_POINTS
/* The source text comes last. It is made here: one level further, macros in the arguments would be expanded. */
#define PENNA_EVENT(...) \
  PENNA_FITTING(PENNA_EVENT_, __VA_ARGS__)(__COUNTER__, PENNA_ARG_COUNT(__VA_ARGS__), __VA_ARGS__, #__VA_ARGS__)
#define PENNA_EVENT_LAZY(...) \
  PENNA_FITTING(PENNA_EVENT_LAZY_, __VA_ARGS__)(__COUNTER__, PENNA_ARG_COUNT(__VA_ARGS__), __VA_ARGS__, #__VA_ARGS__)
#define PENNA_SPAN(...) \
  PENNA_FITTING(PENNA_SPAN_, __VA_ARGS__)(__COUNTER__, PENNA_ARG_COUNT(__VA_ARGS__), __VA_ARGS__, #__VA_ARGS__)
#elif defined(PENNA_ARCH_HAS_SDT)
#define PENNA_SPAN PENNA_SDT
#define PENNA_EVENT PENNA_SDT
#define PENNA_EVENT_LAZY(...) PENNA_FITTING(PENNA_NO_LAZY, __VA_ARGS__)(PENNA_ARG_COUNT(__VA_ARGS__), __VA_ARGS__, ~)
#else
#define PENNA_SPAN(...) PENNA_FITTING(PENNA_NO_POINT, __VA_ARGS__)(PENNA_ARG_COUNT(__VA_ARGS__), __VA_ARGS__, ~)
#define PENNA_EVENT(...) PENNA_FITTING(PENNA_NO_POINT, __VA_ARGS__)(PENNA_ARG_COUNT(__VA_ARGS__), __VA_ARGS__, ~)
#define PENNA_EVENT_LAZY(...) PENNA_FITTING(PENNA_NO_LAZY, __VA_ARGS__)(PENNA_ARG_COUNT(__VA_ARGS__), __VA_ARGS__, ~)
#endif

/* The name is read from the argument's text: see PENNA_NAME_MARK. */
#ifdef __cplusplus
#define PENNA_ARG(name, value) ((void)sizeof("penna_arg:" #name), value)
#define PENNA_STRUCT(Type, ...) PENNA_STRUCT_(PENNA_COUNT_FIELDS(__VA_ARGS__), Type, __VA_ARGS__, ~)
#else
#define PENNA_ARG(name, value) __builtin_choose_expr(sizeof("penna_arg:" #name) == 0, 0, value)
#endif

/* ---- Implementation ---------------------------------------------------------------------------------------------- */

/* clang-format off */
#define PENNA_NO_LAZY(n, provider, name, ...) \
  do { if (0) { PENNA_EACH(n)(PENNA_EVALUATE, PENNA_NOTHING, __VA_ARGS__) } } while (0)

/* One more level of expansion: here __COUNTER__ becomes a number. */
#define PENNA_EVENT_(id, n, ...) PENNA_EVENT_SITE(id, PENNA_SITE_EVENT, "", , n, __VA_ARGS__)
#define PENNA_EVENT_LAZY_(id, n, ...) PENNA_LAZY_SITE(id, n, __VA_ARGS__)

/* `more`: see PENNA_ASM_SITE; `then`: what else the cold block does. */
#define PENNA_EVENT_SITE(id, kind, more, then, n, provider, name, ...)                                               \
  do {                                                                                                               \
    PENNA_EACH(n)(PENNA_HOLD, PENNA_NOTHING, __VA_ARGS__)                                                            \
    PENNA_IF_ARMED(id, PENNA_STATE(id, provider, name), more,                                                        \
                   PENNA_SITE_OPERANDS(kind, PENNA_NO_NUMBER, n, PENNA_TEXT(n, provider, name, __VA_ARGS__))) {      \
      PENNA_RECORD(n, PENNA_STATE(id, provider, name), __VA_ARGS__)                                                  \
      then                                                                                                           \
    }                                                                                                                \
    if (PENNA_SITE_HAS_PAIRS(n)) __asm__ volatile("" : : : "memory"); /* tools read the bytes, too */                \
    PENNA_PROBE_OF_SITE(n, #provider, #name, "0")                                                                    \
  } while (0)

#define PENNA_LAZY_SITE(id, n, provider, name, ...)                                                                  \
  do {                                                                                                               \
    PENNA_EACH(n)(PENNA_HOLD_LATER, PENNA_NOTHING, __VA_ARGS__)                                                      \
    PENNA_IF_HEARD(id, PENNA_STATE(id, provider, name), PENNA_SEMAPHORE_NAME(provider, name),                        \
                   PENNA_SITE_OPERANDS(PENNA_SITE_EVENT, PENNA_NO_NUMBER, n,                                         \
                                       PENNA_TEXT(n, provider, name, __VA_ARGS__))) {                                \
      PENNA_EACH(n)(PENNA_HOLD_NOW, PENNA_NOTHING, __VA_ARGS__)                                                      \
      if (PENNA_BY_SLOT(id)) {                                                                                       \
        PENNA_RECORD(n, PENNA_STATE(id, provider, name), __VA_ARGS__)                                                \
      }                                                                                                              \
      __asm__ volatile(PENNA_ASM_SEMAPHORE(PENNA_SEMAPHORE_NAME(provider, name), "%%") : : : "memory");              \
      PENNA_PROBE_OF_SITE(n, #provider, #name, PENNA_SEMAPHORE_NAME(provider, name))                                 \
    }                                                                                                                \
  } while (0)

/* The end of a span: in C++ a separate site in a destructor; in C a site without a slot, whose state the cold block of
 * the beginning passes to the function that the compiler calls when the scope is left. */
#define PENNA_SPAN_(id, n, ...) PENNA_SPAN_SITE(id, id##_end, n, __VA_ARGS__)
#ifdef __cplusplus
#define PENNA_SPAN_SITE(id, end, n, provider, name, ...)                                                             \
  PENNA_EVENT_SITE(id, PENNA_SITE_SPAN, "", , n, provider, name, __VA_ARGS__);                                       \
  const struct penna_span_##id {                                                                                     \
    __attribute__((always_inline, no_instrument_function)) ~penna_span_##id() {                                      \
      PENNA_IF_ARMED(end, PENNA_STATE(end, provider, name), "",                                                      \
                     PENNA_SITE_OPERANDS(PENNA_SITE_SPAN_END, PENNA_NO_NUMBER, 0,                                    \
                                         PENNA_TEXT(0, provider, name, ~))) {                                        \
        PENNA_RECORD(0, PENNA_STATE(end, provider, name), ~)                                                         \
      }                                                                                                              \
    }                                                                                                                \
  } penna_scope_##id
#else
#define PENNA_SPAN_SITE(id, end, n, provider, name, ...)                                                             \
  const void* penna_span_##id __attribute__((cleanup(penna_end_span), unused)) = 0;                                  \
  PENNA_EVENT_SITE(id, PENNA_SITE_SPAN, PENNA_ASM_SITE_WITHOUT_SLOT(PENNA_STATE(end, provider, name), "3"),          \
                   PENNA_OPEN_SPAN(penna_span_##id, PENNA_STATE(end, provider, name), n), n, provider, name,         \
                   __VA_ARGS__)
#define PENNA_OPEN_SPAN(span_, state, n) \
  __asm__(PENNA_ASM_ADDRESS(state, "span") : [span] "=r"(span_) : PENNA_SHAPE_OPERANDS(n));
#endif

/* What a cold block does: passes the values on, or stores them itself if all of them are words. */
#define PENNA_RECORD(n, state, ...)                                                                                  \
  if (PENNA_SITE_HAS_PAIRS(n) || PENNA_POINT_BY_VALUES) {                                                            \
    uint64_t penna_values[2 * PENNA_SITE_VALUES(n) + 1];                                                             \
    uint64_t* penna_to = penna_values;                                                                               \
    PENNA_EACH(n)(PENNA_PUT_ONE, PENNA_NOTHING, __VA_ARGS__)                                                         \
    (void)penna_to;                                                                                                  \
    PENNA_ASM_VALUES(PENNA_ASM_STATE(state), penna_values, PENNA_SHAPE_OPERANDS(n));                                 \
  } else {                                                                                                           \
    uint64_t* penna_record;                                                                                          \
    PENNA_ASM_RESERVE(PENNA_ASM_STATE(state), penna_record, PENNA_SHAPE_OPERANDS(n));                                \
    if (penna_record) {                                                                                              \
      uint64_t* penna_to = penna_record + 2;                                                                         \
      PENNA_EACH(n)(PENNA_PUT_ONE, PENNA_NOTHING, __VA_ARGS__)                                                       \
      (void)penna_to;                                                                                                \
      PENNA_COMMIT(penna_record);                                                                                    \
    }                                                                                                                \
  }
#define PENNA_PUT_ONE(i, arg) penna_to = PENNA_PUT(penna_to, i, arg);
/* Release: pairs with the collector's acquire load of the header. */
#define PENNA_COMMIT(record) \
  __atomic_store_n(PENNA_POINTER_CAST(uint8_t*, record), PENNA_CAST(uint8_t, PENNA_POINT_COMMIT), __ATOMIC_RELEASE)

#if defined(PENNA_ARCH_HAS_POINTS) && !defined(__cplusplus)
PENNA_INLINE void penna_end_span(const void** span) {
  if (__builtin_expect(*span != 0, 0)) {
    uint64_t* record = 0;
    if (PENNA_POINT_BY_VALUES)
      PENNA_ASM_VALUES(PENNA_ASM_STATE_IN("state"), record, [state] "r"(*span));
    else
      PENNA_ASM_RESERVE(PENNA_ASM_STATE_IN("state"), record, [state] "r"(*span));
    if (record) PENNA_COMMIT(record);
  }
}
#endif

#define PENNA_PROBE_OF_SITE(n, provider, name, semaphore)                                                            \
  PENNA_EACH_OF(n, PENNA_SDT_BEFORE, PENNA_NOTHING)                                                                  \
  __asm__ inline volatile(PENNA_ASM_PROBE(provider, name, semaphore,                                                 \
                                          PENNA_EACH_OF(n, PENNA_ASM_SDT_ARG, PENNA_ASM_SPACE))                      \
                          : : PENNA_EACH_OF(n, PENNA_SDT_OPERANDS, PENNA_COMMA));

#ifdef __cplusplus
#define PENNA_COUNT_FIELDS(...) PENNA_ARG_COUNT(~, ~, __VA_ARGS__)
#define PENNA_STRUCT_(n, Type, ...)                                                                                  \
  template <>                                                                                                        \
  struct penna::Fields<Type> {                                                                                       \
    static constexpr const char* kNames[] = {PENNA_EACH(n)(PENNA_FIELD_NAME, PENNA_COMMA, __VA_ARGS__)};             \
    template <class Visit>                                                                                           \
    __attribute__((always_inline, no_instrument_function)) static auto visit(const Type& penna_object, Visit penna_visit) {                  \
      return penna_visit(PENNA_EACH(n)(PENNA_FIELD, PENNA_COMMA, __VA_ARGS__));                                      \
    }                                                                                                                \
  }
#define PENNA_FIELD_NAME(i, field) #field
#define PENNA_FIELD(i, field) penna_object.field
#endif
/* clang-format on */

#endif
