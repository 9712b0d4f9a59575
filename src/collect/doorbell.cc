// SPDX-License-Identifier: MIT
// See doorbell.h.
#include "collect/doorbell.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>

#include "base/file.h"

namespace penna {

static_assert(sizeof(pthread_mutex_t) <= sizeof(penna_doorbell::recorder));

namespace {
pthread_mutex_t* mutex_in(void* page) {
  return reinterpret_cast<pthread_mutex_t*>(reinterpret_cast<penna_doorbell*>(page)->recorder);
}
}  // namespace

Result<Doorbell> Doorbell::create() {
  Fd memory(::memfd_create("penna-doorbell", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  constexpr size_t kPage = 4096;
  if (!memory || ::ftruncate(memory.get(), kPage) != 0 ||
      ::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return Error{fmt::format("cannot make shared memory: {}; is /dev/shm or memory full?", errno_text(errno))};
  void* data = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (data == MAP_FAILED) return Error{fmt::format("cannot map shared memory: {}", errno_text(errno))};
  Mapping page(data, kPage);

  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_t* mutex = mutex_in(data);
  ::pthread_mutex_init(mutex, &attributes);
  ::pthread_mutexattr_destroy(&attributes);
  ::pthread_mutex_lock(mutex);  // until the end of this object, or of this thread
  return Doorbell(std::move(memory), std::move(page));
}

// Before the page is unmapped: the kernel could not mark it any more.
Doorbell::~Doorbell() {
  if (page_) ::pthread_mutex_unlock(mutex_in(page_.data()));
}

uint32_t Doorbell::seen() const { return __atomic_load_n(&page()->bell, __ATOMIC_ACQUIRE); }

void Doorbell::wait(uint32_t seen, int milliseconds) {
  const timespec limit{milliseconds / 1000, milliseconds % 1000 * 1'000'000L};
  // Sequentially consistent with ring_doorbell() of the agent: either it sees the flag, or we see the new bell.
  __atomic_store_n(&page()->collector_sleeps, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&page()->bell, __ATOMIC_SEQ_CST) == seen)
    ::syscall(SYS_futex, &page()->bell, FUTEX_WAIT, seen, &limit, nullptr, 0);
  __atomic_store_n(&page()->collector_sleeps, 0, __ATOMIC_SEQ_CST);
}

void Doorbell::ring() {
  __atomic_fetch_add(&page()->bell, 1, __ATOMIC_SEQ_CST);
  ::syscall(SYS_futex, &page()->bell, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

uint32_t Doorbell::expected() const {
  // Targets may have written anything here: a count that cannot be is none.
  uint32_t count = __atomic_load_n(&page()->expected, __ATOMIC_RELAXED);
  return count <= 1u << 20 ? count : 0;
}

void Doorbell::met() {
  uint32_t count = __atomic_load_n(&page()->expected, __ATOMIC_RELAXED);
  while (count != 0 && !__atomic_compare_exchange_n(&page()->expected, &count, count - 1, false, __ATOMIC_RELAXED,
                                                    __ATOMIC_RELAXED)) {
  }
}

}  // namespace penna
