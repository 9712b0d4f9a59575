// SPDX-License-Identifier: MIT
// See input.h.
#include "cli/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <tuple>

#include "base/directory.h"
#include "base/file.h"
#include "base/nearest_name.h"
#include "base/say.h"
#include "model/names/recorded_names.h"
#include "model/names/shown_names.h"
#include "options/filter_rules.h"
#include "options/standard_input.h"
#include "options/terminal.h"

namespace penna {
namespace {

bool is_recording_name(std::string_view name) {
  constexpr std::string_view kSuffix = ".penna";
  return name.size() > kSuffix.size() && name.substr(name.size() - kSuffix.size()) == kSuffix;
}

// Files named like one, in directory order.
Result<std::vector<std::string>> recording_names(const std::string& directory) {
  auto names = names_in(directory);
  if (!names) return Error{fmt::format("cannot look for recordings in {}: {}", directory, names.error().text)};
  std::erase_if(*names, [](const std::string& name) { return !is_recording_name(name); });
  return names;
}

// " (did you mean 'app.12.penna'?)": from the recordings in its directory.
std::string near_recording(const std::string& path) {
  const size_t slash = path.rfind('/') + 1;  // 0 if there is none
  const auto names = recording_names(slash == 0 ? "." : path.substr(0, slash));
  if (!names) return {};
  NearestName nearest(path.substr(slash));
  for (const std::string& name : *names) nearest.see(name);
  return nearest.name().empty() ? std::string() : hint_of(path.substr(0, slash) + nearest.name());
}

}  // namespace

// Ties are broken by name, so that the choice does not depend on the order in a directory.
Result<std::string> newest_recording(const std::string& directory) {
  const std::vector<std::string> names = PENNA_TRY(recording_names(directory));
  std::tuple<int64_t, int64_t, std::string> newest;
  for (const std::string& name : names) {
    struct stat status {};
    // Follows links: a link to a recording counts. Anything else of that name does not.
    if (::stat((directory + "/" + name).c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    newest = std::max(newest, {status.st_mtim.tv_sec, status.st_mtim.tv_nsec, name});
  }
  if (std::get<2>(newest).empty())
    return Error{"no recording (*.penna) in this directory: make one with 'penna record CMD', or name one"};
  return directory == "." ? std::get<2>(newest) : directory + "/" + std::get<2>(newest);
}

Result<Recording> open_recording(const std::string& path) {
  if (path == "-")
    return Recording::open(Fd(::open(PENNA_TRY(readable_path(path)).c_str(), O_RDONLY | O_CLOEXEC)), path);
  Result<Recording> recording = Recording::open(path);
  if (!recording && ::access(path.c_str(), F_OK) != 0) return Error{recording.error().text + near_recording(path)};
  return recording;
}

// Names are shortened only for display: patterns apply to full names.
static SymbolOptions options_of_names(const InputOptions& options) {
  SymbolOptions symbols = symbol_options(options);
  if (symbols.demangle == Demangle::kShort) symbols.demangle = Demangle::kFull;
  return symbols;
}

Result<Recording> open_input(const InputOptions& options) {
  PENNA_TRY(check_symbol_options(options));
  if (options.filter.range && options.filter.range->value.is_of_days)
    return Error{
        "a range of days is for 'penna report --at URL': of a recording, give times since its start, as 1s-2s"};
  std::string path = options.recording;
  if (path.empty()) {
    path = PENNA_TRY(newest_recording("."));
    // Only interactive users need this; scripts should name the file.
    if (is_terminal(2)) say(fmt::format("reading {}", path));
  }
  Result<Recording> recording = open_recording(path);
  if (!recording) return recording;
  // The reader itself leaves out what the options exclude: no later analysis can forget to.
  Selection selection;
  selection.threads = PENNA_TRY(choose_threads(*recording, options.threads));
  if (!options.conditions.empty())
    selection.conditions = std::make_shared<const std::vector<Where>>(options.conditions);
  CallRules rules = reading_rules(options.filter, *recording, options_of_names(options));
  if (rules.any()) selection.calls = std::make_shared<const CallRules>(std::move(rules));
  recording->select(std::make_shared<const Selection>(std::move(selection)));
  return recording;
}

std::string chosen_text(const InputOptions& options, const Recording& recording) {
  if (!options.recording.empty()) return {};
  return fmt::format("of {}, the newest recording here", recording.path());
}

// Before anything is opened: without a server, a report would only be slower and would not say why names are missing.
Result<> check_symbol_options(const InputOptions& options) {
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  if (options.debuginfod == "default" && (servers == nullptr || *servers == '\0'))
    return Error{"--debuginfod has no server to ask, as $DEBUGINFOD_URLS is not set: write --debuginfod=URL"};
  return ok();
}

SymbolOptions symbol_options(const InputOptions& options) {
  SymbolOptions symbols;
  symbols.search.symfs = options.symfs;
  symbols.search.debug_dirs = options.debug_dirs;
  symbols.demangle = options.demangle.value_or(Demangle::kFull);
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  symbols.search.debuginfod_urls =
      options.debuginfod == "default" ? (servers != nullptr ? servers : "") : options.debuginfod;
  return symbols;
}

NameStyle name_style(const InputOptions& options, Format format) {
  const bool is_text = format == Format::kTable;
  NameStyle style;
  style.has_short_names = options.demangle ? *options.demangle == Demangle::kShort : is_text;
  if (options.with_library) return style;
  style.folds_stacks = is_text;
  style.library = std::make_shared<const LibraryFrames>(options.library);
  return style;
}

// A function with several names is shown by the one that an option requested: see shown_names.h.
std::unique_ptr<SymbolSource> open_symbols(const InputOptions& options, const Recording& recording,
                                           const std::string& function) {
  std::vector<FunctionPattern> asked = options.filter.functions;
  asked.insert(asked.end(), options.filter.callers.begin(), options.filter.callers.end());
  asked.insert(asked.end(), options.filter.targets.begin(), options.filter.targets.end());
  for (FunctionPattern& pattern :
       triggered(options.filter, {TriggerAction::kOn, TriggerAction::kOff, TriggerAction::kFilter,
                                  TriggerAction::kDepth, TriggerAction::kTime, TriggerAction::kFinish}))
    asked.push_back(std::move(pattern));
  if (!function.empty()) asked.emplace_back(function);
  SymbolOptions symbols = options_of_names(options);
  symbols.rank = rank_of_names(recording.session(), std::move(asked), called_names(recording, options.symfs));
  return make_symbol_source(symbols, recording);
}

}  // namespace penna
