// SPDX-License-Identifier: MIT
// -T FUNC@ACTION[,ACTION...]: what happens where a function is entered, or a point is passed.
//
// Why apart: one option holds several actions, and each verb asks for those of some kinds (docs/filters.md).
// Invariant: texts that parse_triggers() accepts have at least one action.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/result.h"

namespace penna {

enum class FilterUse : uint8_t { kRecording, kReading };

enum class TriggerAction : uint8_t {
  kOn,
  kOff,
  kFilter,   // as --caller
  kNotrace,  // as --hide
  kDepth,
  kTime,
  kFinish,
  kStack,
  kSnapshot,
  kPointStack  // PROVIDER:NAME@stack
};

struct Trigger {
  std::string function;  // or point
  TriggerAction action;
  std::string text;    // of the action, as it was typed
  uint64_t value = 0;  // of kDepth calls, of kTime ns
};

// One for each action. The error says what is allowed.
Result<std::vector<Trigger>> parse_triggers(const std::string& text, FilterUse use);
// Whether it says what is kept; the others say what is recorded besides.
bool is_filter(TriggerAction action);

// Of options that are accepted: the triggers with such an action, in the order in which they were typed.
std::vector<Trigger> triggers_of(const std::vector<std::string>& texts, std::initializer_list<TriggerAction> actions);

}  // namespace penna
