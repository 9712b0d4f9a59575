// SPDX-License-Identifier: MIT
// -T FUNC@ACTION[,ACTION...]: what happens where a function is entered, or a point is passed.
//
// Why apart: one option holds several actions, and each verb asks for those of some kinds (docs/filters.md).
// Invariant: what parse_trigger() gives has at least one action, and a pattern that can match.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/values.h"
#include "model/names/function_pattern.h"

namespace penna {

// Reading can only leave out; what must happen while the program runs (stack, snapshot) is for
// recording.
enum class FilterUse : uint8_t { kRecording, kReading };

// kStack and those behind it record something; those before it leave something out.
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

// One action at the functions (or points) of one pattern.
struct Trigger {
  FunctionPattern function;  // of kPointStack: points, which the agent matches by the text, as those of -e
  TriggerAction action;
  std::string text;    // of the action, as it was typed
  uint64_t value = 0;  // of kDepth calls, of kTime ns
};

using TriggerOption = Typed<std::vector<Trigger>>;  // one for each action, all of the same function
// The error says what is allowed.
Result<TriggerOption> parse_trigger(const std::string& text, FilterUse use);
// Those with such an action, in the order in which they were typed.
std::vector<Trigger> triggers_of(const std::vector<TriggerOption>& options,
                                 std::initializer_list<TriggerAction> actions);

}  // namespace penna
