// SPDX-License-Identifier: MIT
// See dry_run.h.
#include "cli/targets/dry_run.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/installed_library.h"
#include "breakpoint/foreseen_breakpoints.h"
#include "cli/output/output.h"
#include "cli/output/table_output.h"
#include "cli/targets/changed_places.h"
#include "collect/collector.h"
#include "collect/doorbell.h"
#include "collect/server.h"
#include "collect/settings.h"
#include "session/attach_refusal.h"
#include "session/attached.h"
#include "session/call_plans.h"
#include "session/choose_carrier.h"

namespace penna {
namespace {

// Names that match nothing are reported by an actual recording.
PatchRequests requests_of(const RecordOptions& options) {
  return patch_requests(options, std::make_shared<RequestedFunctions>(), std::make_shared<RequestedFunctions>());
}

// The recorder that the agent in the copy connects to, to ask what to change. It records nothing.
class Stage {
 public:
  static Result<std::unique_ptr<Stage>> set_up(const RecordOptions& options) {
    std::unique_ptr<Stage> stage(new Stage);
    stage->agent_ = PENNA_TRY(installed_library("libpenna-agent.so"));
    stage->doorbell_.emplace(PENNA_TRY(Doorbell::create()));
    stage->socket_path_ = PENNA_TRY(stage->directory_.create());
    stage->collector_.emplace(RecordingWriter::nowhere(), *stage->doorbell_);
    stage->server_ =
        PENNA_TRY(Server::listen(stage->socket_path_, config_for(options), *stage->doorbell_, *stage->collector_));
    stage->planner_.emplace(requests_of(options));
    plan_calls(*stage->server_, *stage->planner_, options);
    PENNA_TRY(stage->collector_->start());
    return stage;
  }
  ~Stage() {
    if (collector_) (void)collector_->stop(true);
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  Result<Rehearsed> rehearse(pid_t pid) {
    return penna::rehearse(pid,
                           {agent_, socket_path_, [this](pid_t copy) { server_->invite(static_cast<uint32_t>(copy)); },
                            [this](int also) { serve_for_a_moment(*server_, also); }});
  }

 private:
  Stage() = default;
  std::string agent_, socket_path_;
  std::optional<Doorbell> doorbell_;
  SocketDirectory directory_;
  std::optional<Collector> collector_;
  std::unique_ptr<Server> server_;
  std::optional<PatchPlanner> planner_;
};

// Both record one process at a time (choose_carrier()).
Result<Report> places_report(const RecordOptions& options, bool by_uprobes) {
  const pid_t pid = options.pids.front();
  if (std::string trouble = by_uprobes ? why_not_watched(pid) : why_not_attached(pid, true); !trouble.empty())
    return Error{std::move(trouble)};
  const PatchRequests requests = requests_of(options);
  const auto foresee = by_uprobes ? foresee_uprobes : foresee_breakpoints;
  auto foreseen = PENNA_TRY(foresee(pid, config_for(options), {"", requests.wanted, requests.also}));
  Report report = report_changes(
      {{pid, std::move(foreseen.rehearsed), by_uprobes ? ChangedBy::kUprobes : ChangedBy::kBreakpoints}});
  report.warnings = std::move(foreseen.refused);
  return report;
}

// In a copy of each.
Result<Report> rehearsals_report(const RecordOptions& options) {
  const auto stage = PENNA_TRY(Stage::set_up(options));
  std::vector<ChangedProcess> processes;
  std::vector<std::string> troubles;
  for (const pid_t pid : options.pids) {
    std::string trouble = why_not_attached(pid, false);
    if (trouble.empty()) {
      auto rehearsed = stage->rehearse(pid);
      if (rehearsed) processes.push_back({pid, std::move(*rehearsed)});
      if (!rehearsed) trouble = rehearsed.error().text;
    }
    if (!trouble.empty()) troubles.push_back(std::move(trouble));
  }
  if (processes.empty() && !troubles.empty()) return last_after_others(std::move(troubles));
  Report report = report_changes(processes);
  report.warnings = std::move(troubles);
  return report;
}

}  // namespace

Result<Report> changes_report(const RecordOptions& options) {
  const CarrierChoice choice = PENNA_TRY(choose_carrier(options));
  return choice.by_breakpoints ? places_report(options, choice.by_uprobes) : rehearsals_report(options);
}

int dry_run(const RecordOptions& options) {
  Result<Report> report = changes_report(options);
  if (!report) return fail(report.error().text);
  TableOptions table;
  table.format = options.dry_run_format;
  table.color = options.color;
  table.top = 0;
  if (const auto selected = select_report_rows(*report, table); !selected) return fail(selected.error().text);
  Output output;
  write_report(*report, table, output);
  return finish_output(output);
}

}  // namespace penna
