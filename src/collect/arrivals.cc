// SPDX-License-Identifier: MIT
// See arrivals.h.
#include "collect/arrivals.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include "base/directory.h"
#include "base/file.h"
#include "base/mapped_memory.h"
#include "base/proc_stat.h"
#include "penna/channel.h"

namespace penna {
namespace {

constexpr size_t kMostText = 4 << 20;
constexpr const char* kDoorbell = "penna-doorbell";

// Of a process that is starting or was just forked, which has its first thread: not in_proc(), because all processes of
// the machine are looked at.
std::string text_of(uint32_t pid, const char* file) {
  auto text = read_file(fmt::format("/proc/{}/{}", pid, file), kMostText);
  return text ? std::move(*text) : std::string{};
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Searches a sequence of zero-terminated words.
bool has_word(std::string_view words, std::string_view word) {
  for (size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == '\0') && (end == words.size() || words[end] == '\0')) return true;
  }
  return false;
}

// A program whose dynamic linker has not loaded the agent yet. If libc is mapped but the agent is not, the agent was
// left out.
bool is_starting(uint32_t pid, const std::string& variable) {
  // The environment first: reading `maps` of every process on the machine would take far longer.
  const std::string words = text_of(pid, "environ");
  if (!has_word(words, variable) && !contains(words, variable + "+")) return false;  // sockets/near_listener.h
  const std::string maps = text_of(pid, "maps");
  return contains(maps, "/ld-linux") && (contains(maps, "libpenna-agent.so") || !contains(maps, "/libc.so"));
}

// A forked child: until it connects, it has its parent's state. With a seccomp filter it may never connect.
bool is_forked(uint32_t pid, ino_t doorbell) {
  return has_mapped(pid, kDoorbell, doorbell) && !contains(text_of(pid, "status"), "\nSeccomp:\t2");
}

}  // namespace

std::vector<Fd> find_arrivals(const std::string& socket_path, int doorbell,
                              const std::function<bool(uint32_t pid)>& is_known) {
  std::vector<Fd> found;
  struct stat page {};
  if (::fstat(doorbell, &page) != 0) return found;
  const std::string variable = fmt::format("{}={}", PENNA_SOCKET_VARIABLE, socket_path);
  for (const pid_t one : numbers_in("/proc")) {
    const auto pid = static_cast<uint32_t>(one);
    if (one == ::getpid() || is_known(pid)) continue;
    // Ours: helpers such as surgeons, which have inherited the doorbell, too. The command has ended by now.
    if (parent_of(one) == ::getpid()) continue;
    // Before the checks: the descriptor then belongs to the process that is checked, or to none. A pid alone may be
    // taken over by another process between the check and the open.
    Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!process || !(is_starting(pid, variable) || is_forked(pid, page.st_ino))) continue;
    ::fcntl(process.get(), F_SETFD, FD_CLOEXEC);
    found.push_back(std::move(process));
  }
  return found;
}

bool shares_doorbell(uint32_t pid, int doorbell) {
  struct stat page {};
  return ::fstat(doorbell, &page) == 0 && has_mapped(pid, kDoorbell, page.st_ino);
}

}  // namespace penna
