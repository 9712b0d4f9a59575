// SPDX-License-Identifier: MIT
// -T FUNC@ACTION[,ACTION...]: actions when a function is entered, or a point is hit.
//
// Why separate: one option contains several actions, and each verb asks for some kinds (docs/filters.md).
// Invariant: the result of parse_trigger() has at least one action, and a pattern that can match.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/names/function_pattern.h"
#include "options/values.h"

namespace penna {

// Reading can only leave out; actions on the running program (stack, snapshot) are for recording.
enum class FilterUse : uint8_t { kRecording, kReading };

// kStack and later ones record something; those before it leave something out.
enum class TriggerAction : uint8_t {
  kOn,
  kOff,
  kFilter,   // like --caller
  kNotrace,  // like --hide
  kDepth,
  kTime,
  kFinish,
  kStack,
  kSnapshot,
  kPointStack  // PROVIDER:NAME@stack
};

// One action at the functions (or points) of one pattern.
struct Trigger {
  FunctionPattern function;  // for kPointStack: points, which the agent matches by the text, like those of -e
  TriggerAction action;
  std::string text;    // of the action, as typed
  uint64_t value = 0;  // calls for kDepth, ns for kTime
};

using TriggerOption = Typed<std::vector<Trigger>>;  // one per action, all of the same function
// The error says what is allowed.
Result<TriggerOption> parse_trigger(const std::string& text, FilterUse use);
// Those with one of these actions, in the order typed.
std::vector<Trigger> triggers_of(const std::vector<TriggerOption>& options,
                                 std::initializer_list<TriggerAction> actions);

}  // namespace penna
