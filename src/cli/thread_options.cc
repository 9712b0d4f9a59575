// SPDX-License-Identifier: MIT
// See thread_options.h.
#include "cli/thread_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/count_text.h"
#include "base/nearest_name.h"
#include "base/pattern.h"
#include "base/say.h"
#include "penna/detail/regex.h"

namespace penna {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.size() <= 10 && text.find_first_not_of("0123456789") == std::string::npos;
}

bool has_tid(const RecordedThread& thread, const std::string& tid) { return std::to_string(thread.tid) == tid; }

// By any name that it ever had.
bool has_name(const RecordedThread& thread, const std::string& pattern, NearestName& nearest) {
  const auto meant = [&](const std::string& name) {
    nearest.see(name);
    return penna_text_matches(pattern.c_str(), name.c_str()) != 0;
  };
  bool found = meant(thread.name);
  for (const Thread& named : thread.names) found |= meant(named.name);
  return found;
}

}  // namespace

void add_thread_options(OptionParser& parser, ThreadOptions& options, const char* tid) {
  parser.texts(tid, options.tids, "TID", "only what the thread with this number did; may be repeated");
  parser.texts("--thread", options.names, "NAME|TID",
               "only what threads of this name did: a glob, as 'worker*', or /expression/; may be repeated");
}

Result<> check_threads(const ThreadOptions& options) {
  for (const std::string& tid : options.tids)
    if (!is_number(tid))
      return Error{fmt::format("--tid takes the number of a thread, as 1234, not '{}': --thread takes names", tid)};
  for (const std::string& name : options.names) {
    if (name.empty()) return Error{"--thread takes the name of a thread, where * stands for anything"};
    PENNA_TRY(check_pattern(name));
  }
  return ok();
}

Result<std::vector<bool>> choose_threads(const Recording& recording, const ThreadOptions& options) {
  if (!options.any()) return std::vector<bool>{};
  std::vector<bool> wanted(recording.threads().size());
  std::vector<std::string> unmet;
  const auto choose = [&](const char* option, const std::string& text, bool by_name) {
    bool met = false;
    NearestName nearest(text);
    for (uint32_t i = 0; i < wanted.size(); ++i) {
      const RecordedThread& thread = recording.threads()[i];
      if (!(by_name && has_name(thread, text, nearest)) && !has_tid(thread, text)) continue;
      wanted[i] = met = true;
    }
    if (met) return;
    unmet.push_back(fmt::format("no thread is meant by {} '{}'{}: 'penna report threads' lists them", option, text,
                                by_name ? nearest.hint() : ""));
  };
  for (const std::string& tid : options.tids) choose("--tid", tid, false);
  for (const std::string& name : options.names) choose("--thread", name, true);
  if (std::find(wanted.begin(), wanted.end(), true) == wanted.end()) return Error{unmet.front()};
  for (const std::string& sentence : unmet) say(sentence);
  return wanted;
}

std::string selected_text(const Recording& recording) {
  if (!selects_threads(recording)) return "";
  int64_t taken = 0;
  for (uint32_t i = 0; i < recording.threads().size(); ++i) taken += takes_thread(recording, i);
  return fmt::format("Only what {} of {} did is shown.", count_text(taken),
                     plural_text(static_cast<int64_t>(recording.threads().size()), "thread"));
}

}  // namespace penna
