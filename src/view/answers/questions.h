// SPDX-License-Identifier: MIT
// Questions: the page's questions, by name, and their answers (docs/view-protocol.md).
//
// Usage:  Questions questions(data, tables, readers); questions.answer("slices", {{"thread", "0"}});
// Invariant: every answer is bounded, and every refusal is a sentence. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "export/calls/folded_export.h"
#include "export/text/json_writer.h"
#include "report/table.h"
#include "view/answers/part_questions.h"
#include "view/answers/view_selection.h"
#include "view/data/directory.h"
#include "view/data/view_source.h"
#include "view/server/http_server.h"
#include "view/server/parameters.h"

namespace penna {

// A table of `penna report`.
struct ReportRequest {
  std::string table{};  // "" is the summary
  ViewSelection of{};
  std::string sort{};  // COLUMN[:asc|desc]; empty: the table's own order
  size_t rows = 100;
};
// Stacks, summed.
struct FoldRequest {
  ViewSelection of{};
  FoldedWeight weight = FoldedWeight::kTime;
  bool by_thread = false;  // process and thread as the outermost frames
};
struct TableName {
  std::string key, title;
};

// "events" by kind, "kinds" that there are, and those that are "missing".
void write_kinds(JsonWriter& json, const Summary& all);

class Questions {
 public:
  // How the parts are read: as in `penna report` and `penna export folded`. Errors are reported to the client.
  struct Readers {
    std::function<Result<Report>(const ReportRequest&)> make_report;
    std::function<Result<>(const FoldRequest&, const StackVisitor&)> fold;
    PartReader read_part{};
    std::vector<std::string> source_dirs{};  // source_files.h
    // For another recording that this one is compared with; empty without one.
    std::string before{};
    std::function<Result<>(FoldedWeight, const StackVisitor&)> fold_before{};
    std::function<Result<Report>(const ReportRequest&)> make_diff{};  // its table: calls, alloc, leaks or locks
  };
  // `data` must outlive it.
  // `tables`: what this summary has events for.
  using Tables = std::function<std::vector<TableName>(const Summary&)>;
  Questions(ViewSource& data, Tables tables, Readers readers);

  HttpAnswer answer(const std::string& name, const HttpParameters& parameters);
  // Runs `change`, which extends data, while nothing is answered from its tracks.
  void grow(const std::function<void()>& change);

  // For a caller that asks every question (packed_page.h).
  static constexpr uint32_t kMostNames = 50'000;  // of one answer
  std::vector<TableName> tables_to_ask() const { return tables_(*data_.summary()); }
  static std::vector<std::string> weights_to_ask(const Summary& summary);
  std::vector<std::string> points_to_ask(size_t most);
  std::vector<std::string> sources_to_ask();  // most expensive first
  uint32_t name_count();
  // A copy.
  NameIds ids();

 private:
  static constexpr const char* kNothingToCompare =
      "there is nothing to compare with: penna view before.penna after.penna";

  std::string work_out(const std::string& name, Parameters& in, bool* is_known);
  std::string read_part(const std::string& name, Parameters& in);
  std::string summary(bool whole);
  std::string sentences();
  std::string highlights();
  std::string threads();
  std::string of_tracks(const std::string& name, Parameters& in);
  std::string index();
  std::string tables() const;
  std::string table(Parameters& in);
  static std::string answer_report(Parameters& in, ReportRequest request,
                                   const std::function<Result<Report>(const ReportRequest&)>& make);
  std::string diff(Parameters& in);
  std::string names(Parameters& in);
  std::string find(Parameters& in);
  std::string instance(Parameters& in);
  std::string columns(const std::string& name, Parameters& in);
  std::string flame(Parameters& in);  // flame_questions.cc
  std::optional<std::string> around_of(Parameters& in);
  std::string time_order(Parameters& in, const ViewSelection& of);
  ViewSelection selection(Parameters& in);
  uint32_t thread_of(Parameters& in);
  const Directory& directory();

  // Reading a separate part must not block the timeline. The last is locked while one of the others is.
  std::mutex overview_mutex_;  // guards summary_ and highlights_
  std::mutex readers_mutex_;   // guards parts_; but for the overview, one of the readers works at a time
  std::mutex mutex_;           // guards data_, except its summary, and directory_
  ViewSource& data_;
  const Tables tables_;
  Readers readers_;
  std::unique_ptr<Directory> directory_;
  PartQuestions parts_;
  std::string summary_, highlights_;  // once they have been requested
};

}  // namespace penna
