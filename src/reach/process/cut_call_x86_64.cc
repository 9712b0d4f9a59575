// SPDX-License-Identifier: MIT
// See cut_call_x86_64.h. References: signal(7); the x86-64 psABI, A.2.1 (a system call keeps all registers but rax, rcx
// and r11, which gets the flags).
#include "reach/process/cut_call_x86_64.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

#include "base/file.h"
#include "penna/detail/remote.h"
#include "reach/process/traced.h"

asm(".section .rodata\n"
    "penna_finish_call:\n" PENNA_REMOTE_FINISH
    "penna_finish_call_end:\n"
    ".text\n");
extern "C" const uint8_t penna_finish_call[], penna_finish_call_end[];

namespace penna {
namespace {

struct Words {  // as PENNA_REMOTE_FINISH has them
  uint64_t done, rdi, rsi, rdx, r10, rip, rsp;
};
static_assert(offsetof(Words, r10) == 32 && offsetof(Words, rsp) == 48);

constexpr int64_t kSyscallBytes = 2;
constexpr uint64_t kMostParts = 64;  // of a writev; longer ones are left alone

struct stat file_of(pid_t thread, uint64_t fd) {
  struct stat file {};
  if (::stat(fmt::format("/proc/{}/fd/{}", thread, fd).c_str(), &file) != 0) file.st_mode = 0;
  return file;
}

bool blocks(pid_t thread, uint64_t fd) {
  const auto info = read_file(fmt::format("/proc/{}/fdinfo/{}", thread, fd), 4096);
  constexpr std::string_view kFlags = "flags:\t";
  const size_t at = info ? info->find(kFlags) : std::string::npos;
  return at != std::string::npos && (std::strtoul(info->c_str() + at + kFlags.size(), nullptr, 8) & O_NONBLOCK) == 0;
}

// Its readers and writers wait for each other. major(3): 136 to 143 are pseudo-terminals.
bool is_stream(pid_t thread, const GeneralRegisters& at) {
  const struct stat file = file_of(thread, at.rdi);
  const bool is_terminal = S_ISCHR(file.st_mode) && major(file.st_rdev) >= 136 && major(file.st_rdev) <= 143;
  return (S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode) || is_terminal) && blocks(thread, at.rdi);
}
// /dev/zero, /dev/random, /dev/urandom (mem(4), random(4)): the kernel looks for signals between pages.
bool is_endless(pid_t thread, const GeneralRegisters& at) {
  const struct stat file = file_of(thread, at.rdi);
  const unsigned number = minor(file.st_rdev);
  return S_ISCHR(file.st_mode) && major(file.st_rdev) == 1 && (number == 5 || number == 8 || number == 9);
}
bool sends(pid_t thread, const GeneralRegisters& at) { return (at.r10 & MSG_DONTWAIT) == 0 && is_stream(thread, at); }
bool receives_all(pid_t thread, const GeneralRegisters& at) {
  constexpr uint64_t kFlags = MSG_WAITALL | MSG_DONTWAIT | MSG_PEEK | MSG_TRUNC | MSG_ERRQUEUE;
  return (at.r10 & kFlags) == MSG_WAITALL && is_stream(thread, at);
}
bool always(pid_t, const GeneralRegisters&) { return true; }

struct Kind {
  uint64_t number;
  unsigned long long GeneralRegisters::*place;  // null: the kernel keeps it
  unsigned long long GeneralRegisters::*bytes;
  bool (*is_cut)(pid_t thread, const GeneralRegisters& at);
};
constexpr Kind kKinds[] = {
    {SYS_write, &GeneralRegisters::rsi, &GeneralRegisters::rdx, is_stream},
    {SYS_sendto, &GeneralRegisters::rsi, &GeneralRegisters::rdx, sends},
    {SYS_sendfile, nullptr, &GeneralRegisters::r10, is_stream},
    {SYS_recvfrom, &GeneralRegisters::rsi, &GeneralRegisters::rdx, receives_all},
    {SYS_read, &GeneralRegisters::rsi, &GeneralRegisters::rdx, is_endless},
    {SYS_getrandom, &GeneralRegisters::rdi, &GeneralRegisters::rsi, always},
};

bool has_finishing_code(pid_t thread, CodePtr at) {
  const std::span<const uint8_t> code = finishing_code();
  std::vector<uint8_t> there(code.size());
  return read_from(thread, at, there) && std::equal(code.begin(), code.end(), there.begin());
}

}  // namespace

std::optional<CutCall> CutCall::find(pid_t thread, const GeneralRegisters& at) {
  const auto done = static_cast<int64_t>(at.rax);
  if (done <= 0 || static_cast<int64_t>(at.orig_rax) < 0) return {};
  CutCall cut(at);
  if (at.orig_rax == SYS_writev) return cut.cut_vector(thread) ? std::optional(cut) : std::nullopt;
  const auto* const kind =
      std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& one) { return one.number == at.orig_rax; });
  if (kind == std::end(kKinds) || at.rax >= at.*kind->bytes || !kind->is_cut(thread, at)) return {};
  if (kind->place != nullptr) cut.rest_.*kind->place += at.rax;
  cut.rest_.*kind->bytes -= at.rax;
  return cut;
}

// What is left of its parts. False: nothing, or it is no such call.
bool CutCall::cut_vector(pid_t thread) {
  uint64_t skipped = at_.rax;
  std::vector<iovec> all(std::min<uint64_t>(at_.rdx, kMostParts + 1));
  if (all.size() > kMostParts || !read_from(thread, RemotePtr<iovec>(at_.rsi), all)) return false;
  for (const iovec& one : all) {
    const uint64_t passed = std::min<uint64_t>(skipped, one.iov_len);
    skipped -= passed;
    if (passed < one.iov_len) parts_.push_back({static_cast<uint8_t*>(one.iov_base) + passed, one.iov_len - passed});
  }
  return !parts_.empty() && is_stream(thread, at_);
}

// proc(5), /proc/PID/syscall: its number, or "running". Reads are left out: most wait for anything that comes.
bool may_be_cut(pid_t pid, pid_t thread) {
  const auto line = read_file(fmt::format("/proc/{}/task/{}/syscall", pid, thread), 4096);
  if (!line || line->empty() || (*line)[0] < '0' || (*line)[0] > '9') return false;
  const uint64_t number = std::strtoull(line->c_str(), nullptr, 10);
  return number == SYS_writev ||
         (number != SYS_read &&
          std::any_of(std::begin(kKinds), std::end(kKinds), [&](const Kind& one) { return one.number == number; }));
}

std::optional<GeneralRegisters> CutCall::finish(pid_t thread, CodePtr code, uint64_t below) const {
  Words words{at_.rax, at_.rdi, at_.rsi, at_.rdx, at_.r10, at_.rip, at_.rsp};
  const uint64_t bytes = sizeof words + parts_.size() * sizeof parts_[0];
  auto at = aligned_down(RemoteBytes(at_.rsp) - kRedZone - below - bytes, 16).as<Words>();
  // Cut once more: what is there stays there, however often that happens.
  if (has_finishing_code(thread, CodePtr(at_.rip) - kSyscallBytes)) {
    at = RemotePtr<Words>(at_.rsp);
    if (!read_from(thread, at, {&words, 1})) return {};
    words.done += at_.rax;
  }
  GeneralRegisters rest = rest_;
  const auto parts_at = (at + 1).as<iovec>();
  rest.rsp = at.number();
  rest.rip = code.number();
  rest.rax = at_.orig_rax;
  rest.orig_rax = ~uint64_t{0};
  if (!parts_.empty()) rest.rsi = parts_at.number(), rest.rdx = parts_.size();
  if (!write_to(thread, at, {&words, 1}) || !write_to(thread, parts_at, parts_)) return {};
  return rest;
}

CodePtr finishing_code_before(pid_t thread, CodePtr entry) {
  const auto at = entry - static_cast<int64_t>(finishing_code().size());
  return has_finishing_code(thread, at) ? at : CodePtr();
}

std::span<const uint8_t> finishing_code() { return {penna_finish_call, penna_finish_call_end}; }

}  // namespace penna
