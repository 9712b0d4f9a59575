// SPDX-License-Identifier: MIT
// PartQuestions: questions answered by reading a part of the recording again, like tables and flame graphs.
//
// Why separate from Questions: these need no tracks. Invariant: every answer is bounded. Not thread-safe: one at a
// time.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/events/summary.h"
#include "model/names/names.h"
#include "view/answers/point_curve.h"
#include "view/answers/source_costs.h"
#include "view/answers/view_selection.h"
#include "view/server/parameters.h"

namespace penna {

// use(recording, names): with that part selected. `where`: in the syntax of --where, on the arguments of `point`; the
// error says what is wrong with it.
struct PartRequest {
  ViewSelection of{};
  std::string point{}, where{};
};
using UsePart = std::function<Result<>(const Recording&, Names&)>;
using PartReader = std::function<Result<>(const PartRequest&, const UsePart&)>;

class PartQuestions {
 public:
  // `now`: the summary of the whole recording. `source_dirs`: where source files may be read (source_files.h).
  PartQuestions(std::function<std::shared_ptr<const Summary>()> now, PartReader read,
                std::vector<std::string> source_dirs = {})
      : now_(std::move(now)), read_(std::move(read)), source_dirs_(std::move(source_dirs)), all_(now_()) {}

  static bool knows(const std::string& question);
  static bool is_of_columns(const std::string& question);
  // For a question that it knows. Errors are reported to `in`.
  std::string answer(const std::string& question, Parameters& in, const ViewSelection& of);
  // The points with most hits, for a caller that asks every question (packed_page.h).
  std::vector<std::string> points_to_ask(size_t most);
  std::vector<std::string> sources_to_ask();  // likewise: source files of the whole recording, most expensive first
  // Its name, or a substitute if it has none; also for a thread that came after the question.
  std::string thread_name(uint32_t thread) const;

 private:
  std::string point_names(Parameters& in, const ViewSelection& of);
  std::string hits(Parameters& in, const ViewSelection& of);
  std::string curve(Parameters& in);
  std::string live_heap(Parameters& in, const ViewSelection& of);
  std::string critical_path(Parameters& in, const ViewSelection& of);
  std::string blocks(Parameters& in, const ViewSelection& of);
  std::string latency(Parameters& in, const ViewSelection& of);
  const SourceCosts* costs(Parameters& in, const ViewSelection& of);
  struct FileCost {
    const std::string* file;
    LineCost most;  // of one of its lines
  };
  std::vector<FileCost> files_by_cost(const SourceCosts& costs) const;
  std::string sources(Parameters& in, const ViewSelection& of);
  std::string source(Parameters& in, const ViewSelection& of);
  std::string read(Parameters& in, const PartRequest& request,
                   const std::function<Result<std::string>(const Recording&, Names&)>& use);

  const std::function<std::shared_ptr<const Summary>()> now_;
  const PartReader read_;
  const std::vector<std::string> source_dirs_;
  std::shared_ptr<const Summary> all_;  // as of the question
  struct NamedCurve {
    std::string point, argument;
    PointCurve curve;
  };
  std::list<NamedCurve> curves_;  // the most recently requested ones, newest first
  ViewSelection costs_of_;
  std::optional<SourceCosts> costs_;  // of that selection
};

}  // namespace penna
