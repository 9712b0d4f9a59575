// SPDX-License-Identifier: MIT
// See command_line.h.
#include "base/command_line.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/in_proc.h"

namespace penna {

std::vector<std::string> command_of(uint32_t pid) {
  std::vector<std::string> words;
  auto text = read_file(in_proc(pid, "cmdline"), 64 << 10);
  if (!text) return words;
  for (size_t at = 0; at < text->size();) {
    size_t end = std::min(text->find('\0', at), text->size());
    words.push_back(text->substr(at, end - at));
    at = end + 1;
  }
  const bool is_title = !words.empty() && words[0].find(' ') != std::string::npos &&
                        std::all_of(words.begin() + 1, words.end(), [](auto& word) { return word.empty(); });
  if (is_title) words.resize(1);
  return words;
}

std::string executable_of(uint32_t pid) {
  char path[4096];
  const ssize_t got = ::readlink(in_proc(pid, "exe").c_str(), path, sizeof path);
  return got > 0 ? std::string(path, static_cast<size_t>(got)) : std::string();
}

std::string comm_of(uint32_t thread) {
  const auto name = read_file(fmt::format("/proc/{}/comm", thread), 64);
  return name ? name->substr(0, name->find('\n')) : std::string();
}

}  // namespace penna
