// SPDX-License-Identifier: MIT
// See uprobe_ring.h.
#include "breakpoint/uprobe_ring.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/file.h"

namespace penna {
namespace {

constexpr uint64_t kRingBytes = uint64_t{16} << 20, kRingPage = 4096;
constexpr uint32_t kMostProcesses = 4096;

// Of Linux 6.6; the headers of Debian 12 are older.
constexpr uint32_t kUprobeMulti = 48;  // BPF_TRACE_UPROBE_MULTI
constexpr uint32_t kOnReturn = 1;      // BPF_F_UPROBE_MULTI_RETURN
struct LinkCreate {
  uint32_t program, target, type, flags;
  uint64_t path, offsets, semaphores, cookies;
  uint32_t count, multi_flags, pid, reserved;
};

template <typename Attributes>
Fd bpf(int command, Attributes& attributes) {
  return Fd(static_cast<int>(::syscall(SYS_bpf, command, &attributes, sizeof attributes)));
}

Fd make_map(bpf_map_type type, uint32_t key_bytes, uint32_t value_bytes, uint32_t entries) {
  bpf_attr attributes{};
  attributes.map_type = type;
  attributes.key_size = key_bytes;
  attributes.value_size = value_bytes;
  attributes.max_entries = entries;
  return bpf(BPF_MAP_CREATE, attributes);
}

Fd load_program(bpf_prog_type type, uint32_t attached_as, const std::vector<bpf_insn>& code) {
  static constexpr char kLicense[] = "GPL";  // the helpers that it calls require it
  bpf_attr attributes{};
  attributes.prog_type = type;
  attributes.expected_attach_type = static_cast<bpf_attach_type>(attached_as);
  attributes.insns = reinterpret_cast<uintptr_t>(code.data());
  attributes.insn_cnt = static_cast<uint32_t>(code.size());
  attributes.license = reinterpret_cast<uintptr_t>(kLicense);
  return bpf(BPF_PROG_LOAD, attributes);
}

Fd run_at(const char* tracepoint, const Fd& program) {
  bpf_attr attributes{};
  attributes.raw_tracepoint.name = reinterpret_cast<uintptr_t>(tracepoint);
  attributes.raw_tracepoint.prog_fd = static_cast<uint32_t>(program.get());
  return bpf(BPF_RAW_TRACEPOINT_OPEN, attributes);
}

Error refusal(const char* what) {
  const int cause = errno;
  const char* help = "see penna doctor";
  if (cause == EPERM || cause == EACCES) help = "run penna as root (CAP_BPF and CAP_PERFMON), outside of containers";
  if (cause == ENOSYS) help = "it has no bpf(2), or a seccomp filter forbids it: run penna outside of containers";
  if (cause == EINVAL || cause == EOPNOTSUPP || cause == E2BIG)
    help = "they need Linux 6.6 or later with CONFIG_UPROBES and CONFIG_BPF_EVENTS";
  return Error{
      fmt::format("uprobes are not available, since the kernel refuses {} ({}): {}", what, errno_text(cause), help)};
}

// A directory has no code: EBADF. Kernels whose links have no processes, or mistake them for threads, accept -1.
bool has_uprobe_links(const Fd& program) {
  const uint64_t offset = 0;
  LinkCreate link{};
  link.program = static_cast<uint32_t>(program.get());
  link.type = kUprobeMulti;
  link.path = reinterpret_cast<uintptr_t>("/");
  link.offsets = reinterpret_cast<uintptr_t>(&offset);
  link.count = 1;
  if (bpf(BPF_LINK_CREATE, link) || errno != EBADF) return false;
  link.pid = ~uint32_t{0};
  return !bpf(BPF_LINK_CREATE, link) && errno == EINVAL;
}

// Of a record, with its discard bit, once it has been written. A BPF program does not sleep, but the processor may be
// taken from it. None: not within seconds.
std::optional<uint32_t> await_length(const uint32_t* head) {
  constexpr useconds_t kWaitUs = 50;
  constexpr int kMostWaits = 200'000;
  for (int i = 0; i < kMostWaits; ++i) {
    const uint32_t length = __atomic_load_n(head, __ATOMIC_ACQUIRE);
    if ((length & BPF_RINGBUF_BUSY_BIT) == 0) return length;
    ::usleep(kWaitUs);
  }
  return std::nullopt;
}

}  // namespace

Result<UprobeRing> UprobeRing::make() {
  UprobeRing made;
  made.ring_ = make_map(BPF_MAP_TYPE_RINGBUF, 0, 0, kRingBytes);
  if (!made.ring_) return refusal("a ring buffer");
  made.lost_ = make_map(BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(uint64_t), PENNA_CLASS_SLOTS);
  made.processes_ = make_map(BPF_MAP_TYPE_HASH, sizeof(uint32_t), sizeof(uint32_t), kMostProcesses);
  if (!made.lost_ || !made.processes_) return refusal("a map");
  PENNA_TRY(made.load_programs());
  PENNA_TRY(made.map_memory());
  return made;
}

Result<> UprobeRing::load_programs() {
  const UprobeMaps maps{ring_.get(), lost_.get(), processes_.get()};
  const auto load = [&](UprobeCopies copies) {
    return load_program(BPF_PROG_TYPE_KPROBE, kUprobeMulti, make_uprobe_program(maps, copies));
  };
  for (size_t i = 0; i < kUprobeCopies; ++i) {
    programs_[i] = load(static_cast<UprobeCopies>(i));
    if (!programs_[i]) return refusal("a program");
  }
  if (!has_uprobe_links(programs_[0])) {
    errno = EINVAL;
    return refusal("uprobes of one process");
  }
  constexpr std::pair<const char*, UprobeKind> kTracepoints[] = {{"task_newtask", UprobeKind::kFork},
                                                                 {"sched_process_exec", UprobeKind::kExec},
                                                                 {"sched_process_exit", UprobeKind::kExit}};
  for (size_t i = 0; i < tracepoints_.size(); ++i) {
    const auto& [name, kind] = kTracepoints[i];
    const Fd program = load_program(BPF_PROG_TYPE_RAW_TRACEPOINT, 0, make_process_program(maps, kind));
    if (!program) return refusal("a program");
    tracepoints_[i] = run_at(name, program);
    if (!tracepoints_[i]) return refusal("a tracepoint");
  }
  return ok();
}

Result<> UprobeRing::map_memory() {
  void* const consumer = ::mmap(nullptr, kRingPage, PROT_READ | PROT_WRITE, MAP_SHARED, ring_.get(), 0);
  if (consumer == MAP_FAILED) return refusal("the memory of a ring buffer");
  consumer_ = static_cast<uint8_t*>(consumer);
  void* const producer = ::mmap(nullptr, kRingPage + 2 * kRingBytes, PROT_READ, MAP_SHARED, ring_.get(), kRingPage);
  if (producer == MAP_FAILED) return refusal("the memory of a ring buffer");
  producer_ = static_cast<uint8_t*>(producer);
  return ok();
}

std::string why_no_uprobes() {
  const auto ring = UprobeRing::make();
  return ring ? "" : ring.error().text;
}

UprobeRing::UprobeRing(UprobeRing&& other) noexcept
    : ring_(std::move(other.ring_)),
      lost_(std::move(other.lost_)),
      processes_(std::move(other.processes_)),
      programs_(std::move(other.programs_)),
      tracepoints_(std::move(other.tracepoints_)),
      consumer_(std::exchange(other.consumer_, nullptr)),
      producer_(std::exchange(other.producer_, nullptr)),
      taken_(other.taken_) {}

UprobeRing::~UprobeRing() {
  if (consumer_ != nullptr) ::munmap(consumer_, kRingPage);
  if (producer_ != nullptr) ::munmap(producer_, kRingPage + 2 * kRingBytes);
}

// All need the same copies. False, with errno: the kernel lets us have none. One instruction that it cannot probe makes
// it refuse all places of a link: then each half is tried by itself.
bool UprobeRing::link(pid_t pid, const std::string& file, std::span<const UprobePlace> places, Uprobes* made) const {
  constexpr int kCannotProbe = 524;  // ENOTSUPP, which no header has
  std::vector<uint64_t> offsets, semaphores, cookies;
  for (const UprobePlace& place : places) {
    offsets.push_back(place.offset);
    semaphores.push_back(place.semaphore);
    cookies.push_back(place.event_class);
  }
  LinkCreate link{};
  link.program = static_cast<uint32_t>(programs_[static_cast<size_t>(places[0].copies)].get());
  link.type = kUprobeMulti;
  link.path = reinterpret_cast<uintptr_t>(file.c_str());
  link.offsets = reinterpret_cast<uintptr_t>(offsets.data());
  link.cookies = reinterpret_cast<uintptr_t>(cookies.data());
  if (std::any_of(semaphores.begin(), semaphores.end(), [](uint64_t one) { return one != 0; }))
    link.semaphores = reinterpret_cast<uintptr_t>(semaphores.data());
  link.count = static_cast<uint32_t>(offsets.size());
  link.multi_flags = places[0].copies == UprobeCopies::kReturned ? kOnReturn : 0;
  link.pid = static_cast<uint32_t>(pid);
  if (Fd one = bpf(BPF_LINK_CREATE, link)) return made->links.push_back(std::move(one)), true;
  if (errno != kCannotProbe && errno != EOPNOTSUPP && errno != EINVAL) return false;
  if (places.size() == 1) return made->refused.push_back(places[0].offset), true;
  const size_t half = places.size() / 2;
  return this->link(pid, file, places.first(half), made) && this->link(pid, file, places.subspan(half), made);
}

Result<UprobeRing::Uprobes> UprobeRing::set(pid_t pid, const std::string& file,
                                            const std::vector<UprobePlace>& places) const {
  Uprobes made;
  std::array<std::vector<UprobePlace>, kUprobeCopies> by_copies;
  for (const UprobePlace& place : places) by_copies[static_cast<size_t>(place.copies)].push_back(place);
  for (const auto& same : by_copies)
    if (!same.empty() && !link(pid, file, same, &made)) return refusal("uprobes in its file");
  return made;
}

// Positions are bytes that only grow; the ring's size is a power of two.
void UprobeRing::read(const std::function<void(const UprobeRecord& record)>& see) {
  auto* const mine = reinterpret_cast<uint64_t*>(consumer_);
  uint64_t at = __atomic_load_n(mine, __ATOMIC_RELAXED);
  // Acquire: pairs with the kernel's release, after it has written the length.
  const uint64_t end = __atomic_load_n(reinterpret_cast<const uint64_t*>(producer_), __ATOMIC_ACQUIRE);
  while (at < end) {
    const uint8_t* const head = producer_ + kRingPage + at % kRingBytes;
    const std::optional<uint32_t> length = await_length(reinterpret_cast<const uint32_t*>(head));
    if (!length) return;
    const uint32_t bytes = *length & ~uint32_t{BPF_RINGBUF_DISCARD_BIT};
    if ((*length & BPF_RINGBUF_DISCARD_BIT) == 0)
      see(*reinterpret_cast<const UprobeRecord*>(head + BPF_RINGBUF_HDR_SZ));
    at += (uint64_t{bytes} + BPF_RINGBUF_HDR_SZ + 7) & ~uint64_t{7};
    __atomic_store_n(mine, at, __ATOMIC_RELEASE);  // from here on the kernel may overwrite it
  }
}

uint64_t UprobeRing::take_lost(penna_event_class event_class) {
  const uint32_t key = event_class;
  uint64_t value = 0;
  bpf_attr attributes{};
  attributes.map_fd = static_cast<uint32_t>(lost_.get());
  attributes.key = reinterpret_cast<uintptr_t>(&key);
  attributes.value = reinterpret_cast<uintptr_t>(&value);
  (void)::syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &attributes, sizeof attributes);
  return value - std::exchange(taken_[event_class], value);
}

bool UprobeRing::report_processes(pid_t pid, bool wanted) const {
  const auto key = static_cast<uint32_t>(pid);
  const uint32_t value = 0;
  bpf_attr attributes{};
  attributes.map_fd = static_cast<uint32_t>(processes_.get());
  attributes.key = reinterpret_cast<uintptr_t>(&key);
  attributes.value = reinterpret_cast<uintptr_t>(&value);
  return ::syscall(SYS_bpf, wanted ? BPF_MAP_UPDATE_ELEM : BPF_MAP_DELETE_ELEM, &attributes, sizeof attributes) == 0;
}

}  // namespace penna
