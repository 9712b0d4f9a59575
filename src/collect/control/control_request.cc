// SPDX-License-Identifier: MIT
// See control_request.h.
#include "collect/control/control_request.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace penna {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::seconds(1);  // while a thread loads a module
constexpr useconds_t kPauseUs = 5000;

}  // namespace

Result<penna_control> points_request(bool on, const std::string& pattern) {
  penna_control request{};
  if (pattern.size() >= sizeof request.pattern)
    return Error{fmt::format("the pattern is longer than {} characters", sizeof request.pattern - 1)};
  request.operation = on ? PENNA_CONTROL_POINTS_ON : PENNA_CONTROL_POINTS_OFF;
  std::memcpy(request.pattern, pattern.c_str(), pattern.size() + 1);
  return request;
}

penna_control silence_request(std::span<const uint64_t> functions) {
  penna_control request{};
  request.operation = PENNA_CONTROL_SILENCE;
  std::copy_n(functions.begin(), std::min<size_t>(functions.size(), PENNA_CONTROL_FUNCTIONS), request.functions);
  return request;
}

Result<penna_control> ask_patiently(uint32_t pid, const std::function<Result<penna_control>()>& perform) {
  for (const auto end = Clock::now() + kPatience; Clock::now() < end;) {
    const penna_control answer = PENNA_TRY(perform());
    switch (answer.status) {
      case PENNA_CONTROL_DONE: return answer;
      // One of its threads is loading or unloading a library, and continues with that between two tries.
      case PENNA_CONTROL_BUSY: ::usleep(kPauseUs); break;
      case PENNA_CONTROL_FULL:
        return Error{fmt::format("process {} has no room for more patterns; start a new recording", pid)};
      case PENNA_CONTROL_NOT_RECORDED:
        return Error{"this recording does not take points: start it with points among its kinds (-k points)"};
      default: return Error{fmt::format("process {} did not answer", pid)};
    }
  }
  return Error{fmt::format("process {} keeps loading or unloading libraries; try again", pid)};
}

}  // namespace penna
