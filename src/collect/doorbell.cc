// SPDX-License-Identifier: MIT
// See doorbell.h.
#include "collect/doorbell.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>

#include "base/file.h"

namespace penna {
namespace {

constexpr size_t kPage = 4096;

struct SharedPage {
  Fd memory;
  Mapping page;
};

// `seals`: in addition to those that fix its size.
Result<SharedPage> make_page(const char* name, int seals) {
  Fd memory(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory || ::ftruncate(memory.get(), kPage) != 0)
    return Error{fmt::format("cannot make shared memory: {}; is /dev/shm or memory full?", errno_text(errno))};
  void* data = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (data == MAP_FAILED) return Error{fmt::format("cannot map shared memory: {}", errno_text(errno))};
  Mapping page(data, kPage);
  if (::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | seals) != 0)
    return Error{fmt::format("cannot seal shared memory: {}; Linux 5.1 or later is needed", errno_text(errno))};
  return SharedPage{std::move(memory), std::move(page)};
}

}  // namespace

// The robust futex list that the kernel walks when this thread ends (Documentation/locking/robust-futex-ABI): one
// entry, in our memory, at a fixed distance from the futex word. It replaces libc's own list, which we do not use, for
// as long as this object lives.
class Doorbell::Hold {
 public:
  // At the end of a thread the kernel checks each word on its list: one that holds the thread's id is set to
  // FUTEX_OWNER_DIED (set_robust_list(2)). That also happens after SIGKILL, where no handler of ours runs.
  explicit Hold(uint32_t* word) : word_(word) {
    size_t bytes = 0;
    ::syscall(SYS_get_robust_list, 0, &before_, &bytes);
    list_.list.next = &entry_;
    entry_.next = &list_.list;
    list_.futex_offset = reinterpret_cast<intptr_t>(word_) - reinterpret_cast<intptr_t>(&entry_);
    // Before the list is set: the kernel would ignore an entry whose word does not hold our id yet.
    __atomic_store_n(word_, static_cast<uint32_t>(::gettid()), __ATOMIC_RELEASE);
    ::syscall(SYS_set_robust_list, &list_, sizeof list_);
  }
  ~Hold() {
    // For the agent's recorder_alive(), an orderly end looks like a death.
    __atomic_store_n(word_, uint32_t{PENNA_RECORDER_GONE}, __ATOMIC_RELEASE);
    ::syscall(SYS_set_robust_list, before_, sizeof *before_);
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  uint32_t* word_;
  robust_list_head* before_ = nullptr;
  robust_list_head list_{};
  robust_list entry_{};
};

Result<Doorbell> Doorbell::create() {
  SharedPage bell = PENNA_TRY(make_page("penna-doorbell", 0));
  SharedPage life = PENNA_TRY(make_page("penna-life", F_SEAL_FUTURE_WRITE));
  auto hold = std::make_unique<Hold>(&reinterpret_cast<penna_life*>(life.page.data())->recorder);
  return Doorbell(std::move(bell.memory), std::move(bell.page), std::move(life.memory), std::move(life.page),
                  std::move(hold));
}

Doorbell::Doorbell(Fd memory, Mapping page, Fd life, Mapping life_page, std::unique_ptr<Hold> hold)
    : memory_(std::move(memory)),
      page_(std::move(page)),
      life_(std::move(life)),
      life_page_(std::move(life_page)),
      hold_(std::move(hold)) {}

Doorbell::Doorbell(Doorbell&&) noexcept = default;
Doorbell::~Doorbell() = default;

uint32_t Doorbell::seen() const { return __atomic_load_n(&page()->bell, __ATOMIC_ACQUIRE); }

void Doorbell::wait(uint32_t seen, int milliseconds) {
  // FUTEX_WAIT takes a relative time; spurious wake-ups only make the caller look for work once more.
  const timespec limit{milliseconds / 1000, milliseconds % 1000 * 1'000'000L};
  // Sequentially consistent with the agent's ring_doorbell(): either it sees the flag, or we see the new bell.
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
  // Targets may have written anything here: an implausible count is ignored.
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
