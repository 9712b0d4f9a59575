// SPDX-License-Identifier: MIT
// See unmet_patterns.h. A recording describes the points that were armed; the others are in the files that its
// processes mapped.
#include "analysis/unmet_patterns.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/nearest_name.h"
#include "penna/detail/regex.h"
#include "symbols/elf/elf_file.h"
#include "symbols/points/point_list.h"

namespace penna {
namespace {

std::set<std::string> armed_points(const Recording& recording) {
  std::set<std::string> names;
  for (const RecordedProcess& process : recording.processes())
    for (const Site& site : process.sites) names.insert(site.provider + ':' + site.name);
  return names;
}

// Opens every file of every process: only if a pattern matched no armed point.
std::set<std::string> points_of_files(const Recording& recording) {
  std::set<std::string> paths, names;
  for (const RecordedProcess& process : recording.processes())
    for (const Module& module : process.modules) paths.insert(module.path);
  for (const std::string& path : paths) {
    const auto file = ElfFile::open(path);
    if (!file) continue;
    PointList points;
    points.add(*file, nullptr);
    for (const ListedPoint& point : points.take()) names.insert(point.full_name());
  }
  return names;
}

bool is_met(const std::string& pattern, const std::set<std::string>& names) {
  for (const std::string& name : names)
    if (penna_text_matches(pattern.c_str(), name.c_str()) != 0) return true;
  return false;
}

}  // namespace

std::string unmet_text(const std::string& option) {
  const size_t end = std::min(option.find(kHintBegins), option.size());
  return fmt::format(
      "{} matched no function that was called{}: 'penna report calls -n 0' without filters lists their names",
      option.substr(0, end), option.substr(end));
}

std::vector<std::string> unmet_points(const char* option, const std::vector<std::string>& patterns, const char* behind,
                                      const std::string& path) {
  std::vector<std::string> sentences;
  if (patterns.empty()) return sentences;
  const auto recording = Recording::open(path);
  if (!recording || recording->processes().empty()) return sentences;
  const std::set<std::string> armed = armed_points(*recording);
  std::set<std::string> all;
  for (const std::string& pattern : patterns) {
    if (pattern.starts_with('!') || is_met(pattern, armed)) continue;
    if (all.empty()) all = points_of_files(*recording);
    if (is_met(pattern, all)) continue;  // switched off by another pattern, or not armable: reported elsewhere
    NearestName nearest(pattern);
    for (const std::string& name : all) nearest.see(name);
    for (const std::string& name : armed) nearest.see(name);
    sentences.push_back(fmt::format("{} '{}{}' matched no point{}", option, pattern, behind,
                                    nearest.name().empty() ? " (see: penna list)" : nearest.hint()));
  }
  return sentences;
}

// A condition applies to points that have all its arguments. If it applies to none, a name is mistyped.
std::vector<std::string> unmet_conditions(const Recording& recording, const std::vector<Where>& conditions) {
  std::vector<std::string> sentences;
  for (const Where& where : conditions) {
    bool applies = false;
    std::vector<NearestName> wanted;
    for (std::string& name : where.names()) wanted.emplace_back(std::move(name));
    for (const RecordedProcess& process : recording.processes())
      for (const Site& site : process.sites) {
        applies |= where.places_in(site).has_value();
        for (NearestName& name : wanted)
          for (const SiteArgument& argument : site.arguments) name.see(argument.name);
      }
    if (applies) continue;
    std::string names;
    for (const NearestName& name : wanted) names += (names.empty() ? "" : ", ") + name.text();
    sentences.push_back(
        fmt::format("--where '{}' filtered out nothing: no point has such arguments, {}", where.text(), names));
  }
  return sentences;
}

std::vector<std::string> unmet_conditions(const std::string& path, const std::vector<Where>& conditions) {
  if (conditions.empty()) return {};
  const auto recording = Recording::open(path);
  return recording ? unmet_conditions(*recording, conditions) : std::vector<std::string>{};
}

}  // namespace penna
