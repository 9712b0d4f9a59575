// SPDX-License-Identifier: MIT
// See known_names.h.
#include "cli/complete/known_names.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "base/directory.h"
#include "base/file.h"
#include "base/find_program.h"
#include "cli/input.h"
#include "recording/reader.h"
#include "symbols/points/point_list.h"
#include "symbols/symbol_file.h"

namespace penna {
namespace {

// Names that are one word in every shell; operators and templates would need quotes.
bool is_plain(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == ':'; });
}

// No server is queried: a key press must not wait for the network.
std::unique_ptr<SymbolFile> symbols_of(const std::string& path) {
  SymbolOptions options;
  options.demangle = Demangle::kSimple;
  auto file = SymbolFile::open({path, {}}, options);
  return file ? std::move(*file) : nullptr;
}

void add_functions(const std::string& path, const std::string& beginning, std::vector<std::string>& names) {
  const std::unique_ptr<SymbolFile> file = symbols_of(path);
  if (file == nullptr) return;
  for (const Symbol& symbol : file->functions()) {
    // Reserved names are many, and irrelevant unless the underscore was typed.
    if (symbol.kind != SymbolKind::kFunction || !symbol.name.starts_with(beginning) || !is_plain(symbol.name)) continue;
    if (beginning.empty() && symbol.name.starts_with('_')) continue;
    names.emplace_back(symbol.name);
  }
}

std::vector<std::string> sorted(std::vector<std::string> names) {
  constexpr size_t kMost = 5000;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.size() > kMost) names.resize(kMost);
  return names;
}

}  // namespace

std::vector<NamedProcess> own_processes() {
  std::vector<NamedProcess> processes;
  for (const pid_t pid : numbers_in("/proc")) {
    const std::string directory = fmt::format("/proc/{}", pid);
    struct stat status {};
    if (pid == ::getpid() || ::stat(directory.c_str(), &status) != 0 || status.st_uid != ::geteuid()) continue;
    const auto name = read_file(directory + "/comm", 64);
    if (name) processes.push_back({std::to_string(pid), name->substr(0, name->find('\n'))});
  }
  return processes;
}

std::vector<std::string> functions_of_program(const std::string& program, const std::string& beginning) {
  std::vector<std::string> names;
  if (const std::string path = program_path(program); !path.empty()) add_functions(path, beginning, names);
  return sorted(std::move(names));
}

std::vector<std::string> functions_of_recording(const std::string& recording, const std::string& beginning) {
  std::vector<std::string> names, seen;
  const auto path = recording.empty() ? newest_recording(".") : Result<std::string>(recording);
  const auto opened = path ? Recording::open(*path) : Result<Recording>(path.error());
  if (!opened) return names;
  for (const RecordedProcess& process : opened->processes()) {
    if (std::find(seen.begin(), seen.end(), process.process.executable) != seen.end()) continue;
    seen.push_back(process.process.executable);
    add_functions(process.process.executable, beginning, names);
  }
  return sorted(std::move(names));
}

std::vector<std::string> points_of_program(const std::string& program) {
  std::vector<std::string> names;
  const auto file = ElfFile::open(program_path(program));
  if (!file) return names;
  PointList points;
  points.add(*file, nullptr);
  for (const ListedPoint& point : points.take()) names.push_back(point.full_name());
  return sorted(std::move(names));
}

}  // namespace penna
