// SPDX-License-Identifier: MIT
// See silencer.h.
#include "reach/control/silencer.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "collect/control/control_request.h"
#include "reach/process/stop_thread.h"

namespace penna {
namespace {

// A process that is just ending can no longer be asked, and is given a moment to end.
bool stays_alive(pid_t pid) {
  constexpr int kTries = 50;
  constexpr useconds_t kPauseUs = 20'000;
  for (int i = 0; i < kTries; ++i) {
    if (has_ended(pid)) return false;
    ::usleep(kPauseUs);
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<Silencer>> Silencer::make(std::optional<uint32_t> percent, CallIn call, Server& server,
                                                 Collector& collector, Observer* next, NameOf name_of) {
  if (!percent) return std::unique_ptr<Silencer>{};
  auto governor = PENNA_TRY(OverheadGovernor::make(*percent / 100.0));
  std::unique_ptr<Silencer> silencer(
      new Silencer(*percent, std::move(governor), std::move(call), server, collector, std::move(name_of)));
  silencer->governor_.forward_to(next);
  collector.set_observer(silencer->governor_);
  return silencer;
}

void Silencer::work() {
  for (const SilenceOrder& order : governor_.take_orders()) {
    const auto pages = server_.control_pages();
    const auto page = std::find_if(pages.begin(), pages.end(), [&](const auto& one) { return one.first == order.pid; });
    if (page != pages.end()) carry_out(order, *page->second);
  }
}

// As many at once as a request holds: for each request a thread of the process is stopped, and no library may be loaded
// meanwhile.
void Silencer::carry_out(const SilenceOrder& order, ControlPage& page) {
  for (std::span<const BusyFunction> left = order.functions; !left.empty();) {
    const auto some = left.first(std::min<size_t>(left.size(), PENNA_CONTROL_FUNCTIONS));
    left = left.subspan(some.size());
    const std::optional<uint64_t> silent = silence(order.pid, page, some);
    for (size_t i = 0; silent && i < some.size(); ++i) note(order, some[i], (*silent >> i & 1) != 0);
    if (silent) continue;
    // If it has ended there is nothing left to record.
    if (stays_alive(static_cast<pid_t>(order.pid))) unanswered_ += some.size() + left.size();
    return;
  }
}

void Silencer::note(const SilenceOrder& order, const BusyFunction& function, bool done) {
  const std::string name = name_of_(function.module, function.pc);
  std::string& first = done ? first_ : first_refused_;
  if (first.empty()) first = name;
  ++(done ? silenced_ : refused_);
  collector_.note(
      fmt::format("calls of {} in pid {} {} after {:.2f} s of processor time: recording them added {:.0f} % to it",
                  name, order.pid, done ? "are not recorded" : "could not be silenced", order.seconds,
                  function.share * 100),
      false);
}

std::optional<uint64_t> Silencer::silence(uint32_t pid, ControlPage& page, std::span<const BusyFunction> functions) {
  if (unresponsive_.count(page.inode()) != 0) return std::nullopt;
  std::vector<uint64_t> pcs;
  for (const BusyFunction& function : functions) pcs.push_back(function.pc);
  const auto answer = ask_process(pid, page, silence_request(pcs), call_);
  if (!answer) unresponsive_.insert(page.inode());  // each call could take seconds again
  if (!answer) return std::nullopt;
  return answer->functions[PENNA_CONTROL_FUNCTIONS];
}

std::string Silencer::summary() const {
  const auto several = [](const std::string& first, size_t count) {
    return count == 1 ? first : fmt::format("{} and {} more (see: penna info)", first, count - 1);
  };
  std::string text = fmt::format("--max-overhead {}%: ", percent_);
  if (silenced_ == 0 && refused_ == 0 && unanswered_ == 0) return text + "all calls were recorded";
  if (silenced_ != 0) text += fmt::format("calls of {} are not recorded from some time on", several(first_, silenced_));
  if (refused_ != 0)
    text += fmt::format(
        "{}{} could not be silenced: -finstrument-functions, and -pg in a program that counts for gprof, leave no way",
        silenced_ != 0 ? "; " : "", several(first_refused_, refused_));
  if (unanswered_ != 0)
    text += fmt::format("{}{} could not be silenced, as their process did not answer",
                        silenced_ + refused_ != 0 ? "; " : "",
                        unanswered_ == 1 ? std::string("1 function") : fmt::format("{} functions", unanswered_));
  return text;
}

}  // namespace penna
