// SPDX-License-Identifier: MIT
// See start_variables.h. Reference: the x86-64 psABI, "Process Initialization".
#include "reach/start/start_variables.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/proc_stat.h"
#include "penna/channel.h"
#include "penna/detail/preload.h"
#include "reach/process/remote_memory.h"

namespace penna {
namespace {

constexpr char kSocket[] = PENNA_SOCKET_VARIABLE "=", kPreload[] = "LD_PRELOAD=";
constexpr size_t kSocketBytes = sizeof kSocket - 1, kPreloadBytes = sizeof kPreload - 1;

// [RUNTIME:]AGENT[:REST] becomes REST, which may be empty.
std::string without_agent(const std::string& value) {
  const size_t runtime = penna_first_runtime(value.c_str());
  const size_t agent = runtime == 0 || runtime == value.size() ? 0 : runtime + 1;
  const size_t end = value.find_first_of(": ", agent);
  return end == std::string::npos ? std::string() : value.substr(end + 1);
}

// False: it has no value left.
bool strip_preload(const RemoteMemory& memory, RemotePtr<char> at) {
  std::string text = memory.text(at);
  const size_t bytes = text.size();
  const std::string rest = without_agent(text.substr(kPreloadBytes));
  text = rest.empty() ? std::string() : kPreload + rest;
  text.resize(bytes);  // with zeros
  memory.write(at, text);
  return !rest.empty();
}

}  // namespace

void take_start_variables(pid_t pid) {
  constexpr uint64_t kMostWords = 1 << 20;
  const auto memory = RemoteMemory::open(pid);
  const RemotePtr<uint64_t> start(start_of_stack(pid));
  const uint64_t count = memory ? memory->get_or_zero(start) : kMostWords;
  if (!start || count >= kMostWords) return;
  const auto list = (start + (count + 2)).as<RemotePtr<char>>();
  std::vector<RemotePtr<char>> kept;
  bool is_ours = false;
  uint64_t all = 0;
  for (; all < kMostWords; ++all) {
    const RemotePtr<char> entry = memory->get_or_zero(list + all);
    if (!entry) break;
    const std::string begin = memory->part(entry.as<uint8_t>(), kSocketBytes);
    if (begin == kSocket) {
      is_ours = true;
      memory->write(entry, PENNA_SOCKET_MET);  // a search for the path finds this (find_recorder.h)
    } else {
      kept.push_back(entry);
    }
  }
  if (!is_ours || all == kMostWords) return;
  const auto preload = std::find_if(kept.begin(), kept.end(), [&](RemotePtr<char> entry) {
    return memory->part(entry.as<uint8_t>(), kPreloadBytes) == kPreload;
  });
  if (preload != kept.end() && !strip_preload(*memory, *preload)) kept.erase(preload);
  kept.resize(all);  // with zeros
  memory->write(list, kept);
}

}  // namespace penna
