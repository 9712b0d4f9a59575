// SPDX-License-Identifier: MIT
// See thread_options.h.
#include "options/thread_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/count_text.h"
#include "base/nearest_name.h"
#include "base/pattern.h"
#include "base/say.h"
#include "filter/selection.h"

namespace penna {
namespace {

// Kept as text, because --thread accepts numbers as well. A tid has at most ten digits.
Result<std::string> parse_tid(const std::string& text) {
  if (!text.empty() && text.size() <= 10 && text.find_first_not_of("0123456789") == std::string::npos) return text;
  return Error{fmt::format("--tid takes the number of a thread, as 1234, not '{}': --thread takes names", text)};
}

Result<std::string> parse_thread_name(const std::string& text) {
  if (text.empty()) return Error{"--thread takes the name of a thread, where * stands for anything"};
  PENNA_TRY(check_pattern(text));
  return text;
}

// By its number, or by any name that it ever had.
bool is_meant(const RecordedThread& thread, const ThreadChoice& choice) {
  return choice.means(thread.tid) || choice.means(thread.name) ||
         std::any_of(thread.names.begin(), thread.names.end(),
                     [&](const Thread& named) { return choice.means(named.name); });
}

// Marks in `wanted` those of `among` that match the single option `one`. If none does, returns the sentence about it,
// with the nearest name.
std::string choose(const Recording& recording, const std::vector<bool>& among, const ThreadChoice& one,
                   std::vector<bool>& wanted) {
  const bool by_name = !one.names.empty();
  const std::string& text = by_name ? one.names.front() : one.tids.front();
  bool met = false;
  NearestName nearest(text);
  for (uint32_t i = 0; i < wanted.size(); ++i) {
    if (!among[i]) continue;
    const RecordedThread& thread = recording.threads()[i];
    nearest.see(thread.name);
    for (const Thread& named : thread.names) nearest.see(named.name);
    if (is_meant(thread, one)) wanted[i] = met = true;
  }
  if (met) return {};
  return fmt::format("no thread matches {} '{}'{}: 'penna report threads' lists them", by_name ? "--thread" : "--tid",
                     text, by_name ? nearest.hint() : "");
}

// For each option that matches none of `among`.
std::vector<std::string> choose_all(const Recording& recording, const std::vector<bool>& among,
                                    const ThreadChoice& options, std::vector<bool>& wanted) {
  std::vector<std::string> unmet;
  const auto note = [&](const ThreadChoice& one) {
    if (std::string sentence = choose(recording, among, one, wanted); !sentence.empty())
      unmet.push_back(std::move(sentence));
  };
  for (const std::string& tid : options.tids) note({{tid}, {}});
  for (const std::string& name : options.names) note({{}, {name}});
  return unmet;
}

}  // namespace

void add_thread_options(OptionParser& parser, ThreadChoice& options) {
  parser.section("Which threads and processes");
  parser.values("--tid", options.tids, "TID", "only events of the thread with this id; may be repeated", parse_tid);
  parser.values(
      "-t,--thread", options.names, "NAME|TID",
      "only events of threads with this name or id: 1234, a glob such as 'worker*', or /regular expression/; may be "
      "repeated",
      parse_thread_name);
}

// First the threads that the recording was made for: others are in it only as far as they matter to these (who holds a
// lock, who freed a block). Then the reader's choice, among these.
Result<std::vector<bool>> choose_threads(const Recording& recording, const ThreadChoice& options) {
  const ThreadChoice recorded = recorded_threads(recording.session());
  const size_t count = recording.threads().size();
  std::vector<bool> among(count, !recorded.any()), wanted(count);
  if (recorded.any()) (void)choose_all(recording, std::vector<bool>(count, true), recorded, among);
  if (options.any()) {
    const std::vector<std::string> unmet = choose_all(recording, among, options, wanted);
    if (std::find(wanted.begin(), wanted.end(), true) == wanted.end()) return Error{unmet.front()};
    for (const std::string& sentence : unmet) say(sentence);
  }
  if (options.any()) return wanted;
  return recorded.any() ? among : std::vector<bool>{};
}

// Reads the recording's metadata again: names of threads are known for certain only at the end.
std::vector<std::string> unmet_threads(const std::string& path, const ThreadChoice& options) {
  if (!options.any()) return {};
  const auto recording = Recording::open(path);
  if (!recording || recording->processes().empty()) return {};
  std::vector<bool> wanted(recording->threads().size());
  return choose_all(*recording, std::vector<bool>(wanted.size(), true), options, wanted);
}

std::string thread_text(const ThreadChoice& options) {
  std::vector<std::string> words;
  for (const std::string& tid : options.tids) words.push_back("--tid " + tid);
  for (const std::string& name : options.names) words.push_back(fmt::format("--thread '{}'", name));
  return fmt::format("{}", fmt::join(words, " "));
}

std::string selected_text(const Recording& recording) {
  if (!selects_threads(recording)) return "";
  int64_t taken = 0;
  for (uint32_t i = 0; i < recording.threads().size(); ++i) taken += takes_thread(recording, i);
  return fmt::format("Only what {} of {} did is shown.", count_text(taken),
                     plural_text(static_cast<int64_t>(recording.threads().size()), "thread"));
}

}  // namespace penna
