// SPDX-License-Identifier: MIT
// Every mapped file has unmapped memory on both sides: an access beyond a channel crashes there, because the sanitizers
// do not know about mappings. The linker redirects mmap and munmap here (-Wl,--wrap).
#include <sys/mman.h>

#include <cstddef>
#include <map>
#include <mutex>

extern "C" {
void* __real_mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset);
int __real_munmap(void* at, size_t bytes);
}

namespace {

constexpr size_t kGuard = 1 << 20;
std::mutex mutex;
std::map<char*, size_t>& guarded() {
  static auto* const maps = new std::map<char*, size_t>;  // never destroyed: some are unmapped after static destruction
  return *maps;
}

}  // namespace

extern "C" void* __wrap_mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  if (at != nullptr || fd < 0) return __real_mmap(at, bytes, protection, flags, fd, offset);
  const size_t size = (bytes + 4095) / 4096 * 4096;
  void* all = __real_mmap(nullptr, size + 2 * kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return all;
  char* const middle = static_cast<char*>(all) + kGuard;
  void* const mapped = __real_mmap(middle, bytes, protection, flags | MAP_FIXED, fd, offset);
  if (mapped == MAP_FAILED) {
    (void)__real_munmap(all, size + 2 * kGuard);
    return mapped;
  }
  const std::lock_guard hold(mutex);
  guarded()[middle] = size;
  return mapped;
}

extern "C" int __wrap_munmap(void* at, size_t bytes) {
  {
    const std::lock_guard hold(mutex);
    const auto found = guarded().find(static_cast<char*>(at));
    if (found != guarded().end() && bytes != 0) {
      const size_t size = found->second;
      guarded().erase(found);
      return __real_munmap(static_cast<char*>(at) - kGuard, size + 2 * kGuard);
    }
  }
  return __real_munmap(at, bytes);
}
