// SPDX-License-Identifier: MIT
// See name_advice.h.
#include "report/name_advice.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace penna {

// Counts rows without a source line by file, in all tables that have such columns; at most two sentences, for the files
// with the most rows.
void advise_on_names(Report& report, Names& names) {
  constexpr size_t kMost = 2;
  std::vector<std::pair<std::string, size_t>> files;
  for (const Table& table : report.tables) {
    const auto column = [&](std::string_view key) {
      const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                      [&](const TableColumn& one) { return one.key == key; });
      return static_cast<size_t>(found - table.columns.begin());
    };
    const size_t module = column("module"), file = column("file"), line = column("line");
    if (std::max({module, file, line}) >= table.columns.size()) continue;
    for (const TableRow& row : table.rows) {
      const auto* path = std::get_if<std::string>(&row.cells[module]);
      const auto* source = std::get_if<std::string>(&row.cells[file]);
      if (path == nullptr || path->empty() || source == nullptr || !source->empty()) continue;
      const auto known = std::find_if(files.begin(), files.end(), [&](auto& one) { return one.first == *path; });
      known == files.end() ? void(files.emplace_back(*path, 1)) : void(++known->second);
    }
  }
  std::stable_sort(files.begin(), files.end(), [](auto& a, auto& b) { return a.second > b.second; });
  const std::vector<ModuleNames> all = names.modules();
  for (size_t i = 0; i < std::min(files.size(), kMost); ++i)
    for (const ModuleNames& one : all)
      if (one.path == files[i].first && !one.problem.empty()) report.tail.push_back(one.problem + ".");
}

std::vector<std::string> lost_files(Names& names) {
  constexpr size_t kMost = 2;
  std::vector<std::string> sentences;
  for (const ModuleNames& one : names.modules())
    if (one.is_lost && one.unnamed != 0 && sentences.size() < kMost) sentences.push_back(one.problem + ".");
  return sentences;
}

void add_lost_files(Report& report, Names& names) {
  for (std::string& sentence : lost_files(names))
    if (std::find(report.tail.begin(), report.tail.end(), sentence) == report.tail.end())
      report.tail.push_back(std::move(sentence));
}

}  // namespace penna
