/* SPDX-License-Identifier: MIT
 *
 * trigger.h: calls that are off until switched on in the running program.
 *
 *     PENNA_TRIGGER(provider, name, callback, arguments...)
 *     PENNA_TRIGGER_ID(id, callback, arguments...)      id: a constant of 0 .. 2^31 - 1; named "trigger:" and its text
 *
 * A trigger that is on is the statement `callback(arguments...)`, with any callable (function, function pointer,
 * lambda, functor; in C a function) and any arguments, evaluated only then. The return value is discarded; exceptions
 * propagate. The compiler emits the call in a cold block, so it is an ordinary call, as thread- and signal-safe as the
 * callback. A trigger that is off is one instruction without effect; an otherwise leaf function may also set up a
 * frame.
 *
 * Switch triggers by name, glob or number with penna/control.h or `penna ctl`; nothing to link. A request covers the
 * program and all its libraries, including those loaded later; unloading them is safe. The callback may switch
 * triggers and pass points.
 * Triggers are not recorded and have no SDT note: put a PENNA_EVENT next to one. In C, 0 to 12 arguments.
 * Without support for the processor, or with PENNA_DISABLE_POINTS, a trigger never calls and evaluates nothing.
 */
#ifndef PENNA_TRIGGER_H
#define PENNA_TRIGGER_H

#include "penna/control.h"
#include "penna/point.h"

/* clang-format off */
#ifdef PENNA_ARCH_HAS_POINTS
#define PENNA_TRIGGER(provider, name, ...) PENNA_TRIGGER_(__COUNTER__, provider, name, #name, PENNA_NO_NUMBER, __VA_ARGS__)
#define PENNA_TRIGGER_ID(id, ...) PENNA_TRIGGER_(__COUNTER__, trigger, id, #id, id, __VA_ARGS__)
#else
#define PENNA_TRIGGER(provider, name, ...) do { if (0) { PENNA_CALL(__VA_ARGS__); } } while (0)
#define PENNA_TRIGGER_ID(id, ...) PENNA_TRIGGER(trigger, id, __VA_ARGS__)
#endif

/* ---- Implementation ---------------------------------------------------------------------------------------------- */

#define PENNA_TRIGGER_(count, provider, name, text, number, ...) \
  PENNA_TRIGGER_SITE(count, #provider, text, number, __VA_ARGS__)
/* The label contains the number, because each instance of a template may have a different one. */
#define PENNA_TRIGGER_SITE(id, provider, name, number, ...)                                                          \
  do {                                                                                                               \
    PENNA_IF_ARMED(id, ".Lpenna_trigger_" PENNA_STRING_OF(__LINE__) "_" #id "_%c[tag]", "",                          \
                   PENNA_SITE_OPERANDS(PENNA_SITE_TRIGGER, number, 0, provider "\0" name "\0" __FILE__),             \
                   [tag] "i"(PENNA_CAST(int, PENNA_CAST(uint32_t, number) & 0x7fffffff))) {                                              \
      PENNA_CALL(__VA_ARGS__);                                                                                       \
    }                                                                                                                \
  } while (0)

#ifdef __cplusplus
#define PENNA_CALL(...) ::penna::detail::call(__VA_ARGS__)
#else
#define PENNA_CALL(...) PENNA_FITTING(PENNA_CALL_, ~, __VA_ARGS__)(PENNA_ARG_COUNT(~, __VA_ARGS__), __VA_ARGS__, ~)
#define PENNA_CALL_(n, ...) PENNA_CALL_N(n, __VA_ARGS__)
#define PENNA_CALL_N(n, callback, ...) (void)(callback)(PENNA_EACH(n)(PENNA_THIS_ARG, PENNA_COMMA, __VA_ARGS__))
#define PENNA_THIS_ARG(i, arg) arg
#endif
/* clang-format on */

#ifdef __cplusplus
namespace penna::detail {
template <class Callback, class... Arg>
PENNA_INLINE void call(Callback&& callback, Arg&&... arg) {
  static_cast<void>(static_cast<Callback&&>(callback)(static_cast<Arg&&>(arg)...));
}
}  // namespace penna::detail
#endif

#endif
