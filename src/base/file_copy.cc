// SPDX-License-Identifier: MIT
// See file_copy.h.
#include "base/file_copy.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace penna {
namespace {

constexpr uint64_t kBlock = 64 << 10;

}  // namespace

FileVersion::FileVersion(const struct stat& status, bool rests)
    : size_(static_cast<uint64_t>(std::max<off_t>(status.st_size, 0))), written_(status.st_mtim), rests_(rests) {}

// The time of a write is that of the coarse clock when the write begins: another one may follow with the same time, and
// it may last. So a file that was written just now is checked again.
FileVersion FileVersion::of(int fd) {
  constexpr int64_t kRest = 20'000'000;  // ns
  constexpr int kTries = 60;
  struct stat status {};
  for (int i = 0; i < kTries; ++i) {
    timespec now{};
    if (::fstat(fd, &status) != 0) return {};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    const int64_t seconds = now.tv_sec - status.st_mtim.tv_sec;
    const int64_t age = seconds * 1'000'000'000 + now.tv_nsec - status.st_mtim.tv_nsec;
    if (seconds < 0 || seconds > 1 || age < 0 || age > kRest) return FileVersion(status, true);
    const timespec millisecond{0, 1'000'000};
    ::nanosleep(&millisecond, nullptr);
  }
  return FileVersion(status, false);
}

bool FileVersion::is_current(int fd) const {
  struct stat status {};
  return rests_ && ::fstat(fd, &status) == 0 && static_cast<uint64_t>(status.st_size) == size_ &&
         status.st_mtim.tv_sec == written_.tv_sec && status.st_mtim.tv_nsec == written_.tv_nsec;
}

bool read_at(int fd, uint64_t offset, std::span<uint8_t> to) {
  while (!to.empty()) {
    const ssize_t got = ::pread(fd, to.data(), to.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;  // end of file
    if (got <= 0) return false;
    offset += static_cast<uint64_t>(got);
    to = to.subspan(static_cast<size_t>(got));
  }
  return true;
}

// A block is checked after reading it: what was written later is not in it.
bool FileCopy::copy_block(uint64_t block) {
  if (changed_) return false;
  const uint64_t from = block * kBlock;
  const uint64_t count = std::min(kBlock, version_.size() - from);
  if (read_at(fd_, from, {memory_.data() + from, count}) && version_.is_current(fd_)) {
    copied_.insert(block);
    return true;
  }
  changed_ = changed_ || !version_.is_current(fd_);
  return false;
}

std::span<const uint8_t> FileCopy::bytes(uint64_t offset, uint64_t count) {
  if (offset >= version_.size() || count == 0) return {};
  if (!memory_) {
    void* memory =
        ::mmap(nullptr, version_.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return {};
    memory_ = Mapping(memory, version_.size());
  }
  count = std::min(count, version_.size() - offset);
  const uint64_t first = offset / kBlock, last = (offset + count - 1) / kBlock;
  for (uint64_t block = first; block <= last; ++block) {
    if (block == last_ || copied_.count(block) != 0 || copy_block(block)) continue;
    if (block == first) return {};
    return {memory_.data() + offset, block * kBlock - offset};
  }
  last_ = last;
  return {memory_.data() + offset, count};
}

}  // namespace penna
