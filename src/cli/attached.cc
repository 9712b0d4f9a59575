// SPDX-License-Identifier: MIT
// See attached.h.
#include "cli/attached.h"

#include <fmt/format.h>
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
  const std::vector<uint32_t> living = server.living_pids();
  int64_t others = 0;
  for (const uint32_t pid : living) {
    const auto restored = inject.give_back(static_cast<pid_t>(pid));
    const char state = state_of(static_cast<pid_t>(pid), static_cast<pid_t>(pid));
    const bool has_ended = state == 'X' || state == 'Z';
    if (!restored && !has_ended) trouble = restored.error().text;
    if (!restored) continue;
    others += restored->is_other_program ? 1 : 0;
    all.places += restored->places;
    all.modules = std::max(all.modules, restored->modules);
    all.kept += restored->kept;
  }
  if (living.empty()) return "";
  std::vector<std::string> parts;
  if (all.places + all.kept != 0)
    parts.push_back(fmt::format("restored {} in {}, verified", plural_text(static_cast<int64_t>(all.places), "place"),
                                plural_text(static_cast<int64_t>(all.modules), "module")));
  if (all.kept != 0)
    parts.push_back(fmt::format("{} left alone, as something else has changed them since",
                                plural_text(static_cast<int64_t>(all.kept), "place")));
  if (others != 0)
    parts.push_back(fmt::format("{} by exec meanwhile, and not recorded any more, {}",
                                plural_text(others, "program that was started", "programs that were started"),
                                others == 1 ? "keeps the agent until it ends" : "keep the agent until they end"));
  if (!trouble.empty()) parts.push_back(trouble);
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace penna
