// SPDX-License-Identifier: MIT
// See silencer.h.
#include "reach/silencer.h"

#include <fmt/core.h>

#include <algorithm>

#include "collect/control_request.h"

namespace penna {

Result<std::unique_ptr<Silencer>> Silencer::make(std::optional<uint32_t> percent, Server& server, Collector& collector,
                                                 Onlooker* next, NameOf name_of) {
  if (!percent) return std::unique_ptr<Silencer>{};
  auto governor = PENNA_TRY(OverheadGovernor::make(*percent / 100.0));
  std::unique_ptr<Silencer> silencer(
      new Silencer(*percent, std::move(governor), server, collector, std::move(name_of)));
  silencer->governor_.forward_to(next);
  collector.set_onlooker(silencer->governor_);
  return silencer;
}

void Silencer::work() {
  for (const SilenceOrder& order : governor_.take_orders()) {
    const auto pages = server_.control_pages();
    const auto page = std::find_if(pages.begin(), pages.end(), [&](const auto& one) { return one.first == order.pid; });
    if (page != pages.end()) carry_out(order, *page->second);
  }
}

// One by one, so that each result is known; a call of the process takes about 50 us.
void Silencer::carry_out(const SilenceOrder& order, ControlPage& page) {
  for (const BusyFunction& function : order.functions) {
    const std::string name = name_of_(function.module, function.pc);
    const std::optional<bool> answer = silence(order.pid, page, function);
    if (!answer) {
      ++unanswered_;
      continue;
    }
    const bool done = *answer;
    std::string& first = done ? first_ : first_refused_;
    if (first.empty()) first = name;
    ++(done ? silenced_ : refused_);
    collector_.note(
        fmt::format("calls of {} in pid {} {} after {:.2f} s of processor time: recording them added {:.0f} % to it",
                    name, order.pid, done ? "are not recorded" : "could not be silenced", order.seconds,
                    function.share * 100),
        false);
  }
}

std::optional<bool> Silencer::silence(uint32_t pid, ControlPage& page, const BusyFunction& function) {
  const uint64_t functions[] = {function.pc};
  if (deaf_.count(page.inode()) != 0) return std::nullopt;
  const auto answer = ask_process(pid, page, silence_request(functions), call_);
  if (!answer) deaf_.insert(page.inode());  // each call could cost us seconds again
  if (!answer) return std::nullopt;
  return answer->matched != 0 && answer->refused == 0;
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
    text += fmt::format("{}{} could not be silenced, as their process did not answer or had ended",
                        silenced_ + refused_ != 0 ? "; " : "",
                        unanswered_ == 1 ? std::string("1 function") : fmt::format("{} functions", unanswered_));
  return text;
}

}  // namespace penna
