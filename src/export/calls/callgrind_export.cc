// SPDX-License-Identifier: MIT
// See callgrind_export.h. Names are compressed: "(3) name" at a number's first use, "(3)" from then on.
#include "export/calls/callgrind_export.h"

#include "export/text/event_words.h"

namespace penna {
namespace {

class CallgrindExport {
 public:
  CallgrindExport(const FunctionSums& sums, const TextSink& sink)
      : sums_(sums), out_(sink), said_(sums.functions.size()) {}

  void header(const char* unit) {
    out_.format("# callgrind format\nversion: 1\ncreator: penna\npositions: line\nevents: {}\ntotals: {}\n", unit,
                sums_.all);
  }

  void functions() {
    size_t edge = 0;
    for (uint32_t i = 0; i < sums_.functions.size() && out_.ok(); ++i) {
      const bool calls = edge < sums_.edges.size() && sums_.edges[edge].caller == i;
      if (!calls && sums_.functions[i].total == 0 && sums_.functions[i].calls == 0) continue;
      out_.text("\n");
      function("fl", "fn", i);
      out_.format("{} {}\n", sums_.functions[i].line, sums_.functions[i].self);
      for (; edge < sums_.edges.size() && sums_.edges[edge].caller == i; ++edge) call(sums_.edges[edge]);
    }
    out_.flush();
  }

 private:
  void function(const char* file_key, const char* key, uint32_t number) {
    const FunctionSum& of = sums_.functions[number];
    file(file_key, of.file.empty() ? "???" : of.file);
    if (said_[number])
      out_.format("{}=({})\n", key, number + 1);
    else
      out_.format("{}=({}) {}\n", key, number + 1, one_line(of.name));
    said_[number] = true;
  }
  void file(const char* key, const std::string& name) {
    auto [found, added] = files_.try_emplace(name, static_cast<uint32_t>(files_.size() + 1));
    if (added)
      out_.format("{}=({}) {}\n", key, found->second, one_line(name));
    else
      out_.format("{}=({})\n", key, found->second);
  }
  // The cost of a call is on the caller's line: a record does not say where in the caller the call is.
  void call(const EdgeSum& edge) {
    function("cfi", "cfn", edge.callee);
    out_.format("calls={} {}\n{} {}\n", edge.calls, sums_.functions[edge.callee].line,
                sums_.functions[edge.caller].line, edge.total);
  }

  const FunctionSums& sums_;
  TextBuffer out_;
  std::vector<bool> said_;  // by function: its name has been written
  TextMap<uint32_t> files_;
};

}  // namespace

FoldedReport export_callgrind(const Recording& recording, Names& names, const FoldedOptions& options,
                              const TextSink& sink, const std::function<void(uint64_t)>& step) {
  FunctionSums sums;
  FoldedReport report = sum_functions(recording, names, options, sums, step);
  CallgrindExport out(sums, sink);
  out.header(unit_word(options.weight));
  out.functions();
  return report;
}

}  // namespace penna
