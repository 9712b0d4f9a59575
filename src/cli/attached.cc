// SPDX-License-Identifier: MIT
// See attached.h.
#include "cli/attached.h"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>

#include "base/count_text.h"
#include "reach/stop_thread.h"

namespace penna {

void serve_for_a_moment(Server& server) {
  constexpr int kMomentMs = 2;
  pollfd ready{server.fd(), POLLIN, 0};
  if (::poll(&ready, 1, kMomentMs) > 0) server.work();
}

std::string give_back(const Inject& inject, Server& server) {
  Restored all;
  std::string trouble;
  for (const uint32_t pid : server.living_pids()) {
    const auto restored = inject.give_back(static_cast<pid_t>(pid));
    const char state = state_of(static_cast<pid_t>(pid), static_cast<pid_t>(pid));
    const bool has_ended = state == 'X' || state == 'Z';
    if (!restored && !has_ended) trouble = restored.error().text;
    if (!restored) continue;
    all.places += restored->places;
    all.modules = std::max(all.modules, restored->modules);
    all.kept += restored->kept;
  }
  if (all.places + all.kept == 0 && !trouble.empty()) return trouble;
  std::string text = fmt::format("restored {} in {}, verified", plural_text(static_cast<int64_t>(all.places), "place"),
                                 plural_text(static_cast<int64_t>(all.modules), "module"));
  if (all.kept != 0)
    text += fmt::format("; {} left alone, as something else has changed them since",
                        plural_text(static_cast<int64_t>(all.kept), "place"));
  return trouble.empty() ? text : fmt::format("{}; {}", text, trouble);
}

}  // namespace penna
