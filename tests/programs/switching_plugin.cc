// SPDX-License-Identifier: MIT
// The library that comes and goes in switching.cc.
#include "penna/trigger.h"

static void check(unsigned*) {}

extern "C" unsigned pass_plugin(unsigned value) {
  PENNA_SPAN(many, plugin_span, value);
  PENNA_TRIGGER(many, plugin, check, &value);
  PENNA_EVENT(many, plugin_event, value, PENNA_ARG(mirrored, ~value));
  return value + 1;
}
