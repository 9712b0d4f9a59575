// SPDX-License-Identifier: MIT
// See attached.h.
#include "session/attached.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include "base/count_text.h"
#include "report/units.h"

namespace penna {

void serve_for_a_moment(Server& server, int also) {
  constexpr int kMomentMs = 2;
  pollfd both[] = {{server.fd(), POLLIN, 0}, {also, POLLIN, 0}};
  if (::poll(both, 2, kMomentMs) > 0 && both[0].revents != 0) server.work();
}

// Numbers first, then what was left unchanged and why. Never empty: an empty line would not say that all is well.
std::string restored_text(const Restored& restored) {
  std::vector<std::string> parts;
  if (restored.places + restored.kept != 0 || (restored.other_programs == 0 && restored.trouble.empty()))
    parts.push_back(fmt::format("restored {} in {}, verified",
                                plural_text(static_cast<int64_t>(restored.places), "place"),
                                plural_text(static_cast<int64_t>(restored.modules), "module")));
  if (restored.kept != 0)
    parts.push_back(fmt::format("{} left alone: something else has changed them since",
                                plural_text(static_cast<int64_t>(restored.kept), "place")));
  if (restored.waiting != 0)
    parts.push_back(
        fmt::format("{} kept until the next recording, for threads that still wait in hooked "
                    "functions: they only guide unwinders",
                    plural_text(static_cast<int64_t>(restored.waiting), "place")));
  const auto others = static_cast<int64_t>(restored.other_programs);
  if (others != 0)
    parts.push_back(fmt::format("{} by exec meanwhile, and not recorded any more, {}",
                                plural_text(others, "program that was started", "programs that were started"),
                                others == 1 ? "keeps the agent until it ends" : "keep the agent until they end"));
  if (restored.stopped_ns != 0)
    parts.push_back(
        fmt::format("all threads stopped for at most {}", duration_text(static_cast<int64_t>(restored.stopped_ns))));
  if (!restored.trouble.empty()) parts.push_back(restored.trouble);
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace penna
