// SPDX-License-Identifier: MIT
// See exit_status.h.
#include "collect/exit_status.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

#include "base/file.h"
#include "base/proc_stat.h"
#include "base/proc_status.h"
#include "base/whole_number.h"

namespace penna {
namespace {

// PIDFD_GET_INFO of linux/pidfd.h, missing in older headers.
struct PidfdInfo {
  uint64_t mask, cgroup;
  uint32_t pid, tgid, ppid, ids[8];
  int32_t exit_code;
};
static_assert(sizeof(PidfdInfo) == 64);
// ABI numbers: older kernels answer ENOTTY, and we do without.
constexpr unsigned long kGetInfo = _IOWR(0xff, 11, PidfdInfo);
constexpr uint64_t kInfoExit = 1 << 3;

std::optional<int> status_when_reaped(int pidfd) {
  PidfdInfo info{};
  info.mask = kInfoExit;
  if (::ioctl(pidfd, kGetInfo, &info) != 0 || (info.mask & kInfoExit) == 0) return std::nullopt;
  return info.exit_code;
}

// Where access is denied, /proc shows 0. Access is never denied for a process that belongs entirely to this user.
bool is_all_mine(uint32_t pid) {
  std::istringstream words(read_status_value(fmt::format("/proc/{}", pid), "Uid"));
  int count = 0;
  for (uint64_t uid; words >> uid; ++count)
    if (uid != ::geteuid()) return false;
  return count == 4;
}

std::optional<int> status_of_zombie(int pidfd, uint32_t pid) {
  const auto line = read_file(fmt::format("/proc/{}/stat", pid), 4096);
  const auto status = line ? status_in_stat(*line) : std::nullopt;
  if (!status || (*status == 0 && !is_all_mine(pid))) return std::nullopt;
  // The process still exists, so the status read was its own.
  return ::syscall(SYS_pidfd_send_signal, pidfd, 0, nullptr, 0) == 0 ? status : std::nullopt;
}

}  // namespace

std::optional<int> status_in_stat(const std::string& line) {
  constexpr int kState = 3, kExitCode = 52;  // proc_pid_stat(5)
  std::istringstream words{std::string(stat_from_state(line))};
  std::string word;
  for (int field = kState; words >> word; ++field) {
    if (field == kState && word != "Z" && word != "X") return std::nullopt;
    if (field != kExitCode) continue;
    return whole_number<int>(word);
  }
  return std::nullopt;
}

// Most reliable first: our own child, then a zombie in /proc, then the pidfd once it has been reaped. WNOWAIT: its
// parent, which may be other code in this process, still gets the status.
std::pair<EndKind, int> end_of_process(int pidfd, uint32_t pid) {
  siginfo_t info{};
  if (::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0)
    return {info.si_code == CLD_EXITED ? EndKind::kExited : EndKind::kSignaled, info.si_status};
  std::optional<int> status = status_of_zombie(pidfd, pid);
  if (!status) status = status_when_reaped(pidfd);
  if (!status) return {EndKind::kUnknown, 0};
  if (WIFSIGNALED(*status)) return {EndKind::kSignaled, WTERMSIG(*status)};
  return {EndKind::kExited, WEXITSTATUS(*status)};
}

}  // namespace penna
