// SPDX-License-Identifier: MIT
// See control_page.h.
#include "collect/control_page.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/in_proc.h"
#include "base/mapped_memory.h"

namespace penna {
namespace {

constexpr size_t kPageBytes = 4096;
constexpr int kTurnTries = 1000;  // times kTurnPauseUs: ten seconds, longer than an answer takes
constexpr useconds_t kTurnPauseUs = 10'000;
static_assert(sizeof(penna_channel) <= kPageBytes);

}  // namespace

ControlPage ControlPage::map(const Fd& memory) {
  ControlPage control;
  void* data = ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  struct stat file {};
  if (data != MAP_FAILED && ::fstat(memory.get(), &file) == 0) {
    control.page_ = Mapping(data, kPageBytes);
    control.inode_ = file.st_ino;
  }
  return control;
}

Result<ControlPage> ControlPage::in_process(uint32_t pid) {
  ControlPage control;
  // No program locks a directory in /proc; and the lock is released when we end.
  control.turn_ = Fd(::open(fmt::format("/proc/{}", pid).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int tries = 0; control.turn_ && ::flock(control.turn_.get(), LOCK_EX | LOCK_NB) != 0; ++tries) {
    if (tries == kTurnTries) return Error{fmt::format("process {} is busy with other requests; try again", pid)};
    ::usleep(kTurnPauseUs);
  }
  control.process_ = Fd(::open(in_proc(pid, "mem").c_str(), O_RDWR | O_CLOEXEC));
  if (!control.process_)
    return Error{fmt::format(
        "cannot access the memory of process {}: {}; run as its user, and see /proc/sys/kernel/yama/ptrace_scope", pid,
        errno_text(errno))};
  // Its own descriptor of the channel is closed (docs/decisions/0003): only the mapping is left.
  const auto found = find_mapped(pid, "penna-channel");
  if (!found) return Error{fmt::format("process {} has no channel to a recorder", pid)};
  control.address_ = found->start;
  control.inode_ = found->inode;
  if (control.number_at(offsetof(penna_channel, magic)) != PENNA_CHANNEL_MAGIC)
    return Error{fmt::format("process {} has a channel of another version", pid)};
  return control;
}

Result<> ControlPage::ask(const penna_control& request) {
  constexpr size_t kAt = offsetof(penna_channel, control);
  if (page_) {
    // No release: the thread that reads this is stopped and directed to it by ptrace, which orders both.
    std::memcpy(page_.data() + kAt, &request, sizeof request);
    return ok();
  }
  const auto at = static_cast<off_t>((address_ + kAt).number());
  if (!process_ || ::pwrite(process_.get(), &request, sizeof request, at) != ssize_t{sizeof request})
    return Error{"the memory of this process could not be mapped"};
  return ok();
}

bool ControlPage::read(size_t offset, void* to, size_t bytes) const {
  if (page_) return std::memcpy(to, page_.data() + offset, bytes), true;
  const auto at = static_cast<off_t>(address_.number() + offset);
  return process_ && ::pread(process_.get(), to, bytes, at) == static_cast<ssize_t>(bytes);
}

penna_control ControlPage::answer() const {
  penna_control copy{};
  return read(offsetof(penna_channel, control), &copy, sizeof copy) ? copy : penna_control{};
}

uint64_t ControlPage::number_at(size_t offset) const {
  uint64_t number = 0;
  return read(offset, &number, sizeof number) ? number : 0;
}

}  // namespace penna
