/* SPDX-License-Identifier: MIT
 *
 * ft_event.h: events by table, for programs of Feather-Trace that pass the bounds of their tables.
 *
 * Why without tables: a module's triggers are found by its note (penna/control.h), also those of libraries that are
 * loaded later.
 * Invariant: the bounds are ignored: all triggers of an id are switched together.
 */
#ifndef PENNA_FEATHER_EVENT_H
#define PENNA_FEATHER_EVENT_H

#include "feather_trace.h"

struct trace_event {
  unsigned long id;
  long count;
  unsigned long start_addr, end_addr;
};

PENNA_API int ft_is_event_enabled_in_table(unsigned long id, struct trace_event* table, struct trace_event* end) {
  return (void)table, (void)end, ft_is_event_enabled(id);
}
PENNA_API int ft_enable_event_in_table(unsigned long id, struct trace_event* table, struct trace_event* end) {
  return (void)table, (void)end, ft_enable_event(id);
}
PENNA_API int ft_disable_event_in_table(unsigned long id, struct trace_event* table, struct trace_event* end) {
  return (void)table, (void)end, ft_disable_event(id);
}
PENNA_API int ft_disable_all_events_in_table(struct trace_event* table, struct trace_event* end) {
  return (void)table, (void)end, ft_disable_all_events();
}

#endif
