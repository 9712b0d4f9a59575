// SPDX-License-Identifier: MIT
// See thread_choice.h.
#include "filter/thread_choice.h"

#include <algorithm>
#include <string_view>

#include "penna/detail/regex.h"

namespace penna {
namespace {

constexpr std::string_view kTidWord = "tid=", kThreadWord = "thread=";

}  // namespace

bool ThreadChoice::means(uint32_t tid) const {
  const std::string text = std::to_string(tid);
  return std::find(tids.begin(), tids.end(), text) != tids.end() ||
         std::find(names.begin(), names.end(), text) != names.end();
}

bool ThreadChoice::means(const std::string& name) const {
  return std::any_of(names.begin(), names.end(), [&](const std::string& pattern) {
    return penna_text_matches(pattern.c_str(), name.c_str()) != 0;
  });
}

std::vector<std::string> thread_words(const ThreadChoice& choice) {
  std::vector<std::string> words;
  for (const std::string& tid : choice.tids) words.push_back(std::string(kTidWord) + tid);
  for (const std::string& name : choice.names) words.push_back(std::string(kThreadWord) + name);
  return words;
}

ThreadChoice recorded_threads(const Session& session) {
  ThreadChoice choice;
  for (const std::string& option : session.options) {
    if (option.starts_with(kTidWord)) choice.tids.push_back(option.substr(kTidWord.size()));
    if (option.starts_with(kThreadWord)) choice.names.push_back(option.substr(kThreadWord.size()));
  }
  return choice;
}

void ThreadSelection::learn(const Record& record, const penna_chunk& header) {
  if (meant_.size() >= kMaxThreads || !choice_->means(decode_thread_name(record))) return;
  const NamedThread other = decode_named_thread(record);
  meant_.insert(other.serial != 0 ? other.serial : header.thread_serial);
}

}  // namespace penna
