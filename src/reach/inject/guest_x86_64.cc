// SPDX-License-Identifier: MIT
// See guest.h. References: glibc's nptl/descr.h and nptl_db (offsets of struct pthread by the descriptors that
// libthread_db reads); ELF handling for thread-local storage, variant II; clone(2).
//
//   memory
//     0        +--------------------------------+
//              | GuestWords                     |
//     4 KiB    +--------------------------------+
//              | stack, 252 KiB                 |
//     256 KiB  +--------------------------------+
//              | thread-local variables         |
//     512 KiB  +--------------------------------+ <- thread pointer
//              | struct pthread, 28 KiB         |
//     540 KiB  +--------------------------------+
//              | dtv, 36 KiB                    |
//     576 KiB  +--------------------------------+
//              | penna_attachment and its writes|
//              +--------------------------------+
#include "reach/inject/guest.h"

#include <fmt/core.h>
#include <linux/rseq.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "reach/process/cut_call_x86_64.h"

// %rbx: GuestWords. Aligned as functions require; no signal arrives: clone(2) keeps its caller's mask.
asm(".section .rodata\n"
    "penna_guest_code:\n"
    "pop %rbx\n"
    "and $-16, %rsp\n"
    "mov $157, %eax\n mov $15, %edi\n lea penna_guest_name(%rip), %rsi\n syscall\n"  // prctl(PR_SET_NAME)
    "mov $125000, %r12d\n"  // times 160 us: 20 s, unless our process has died
    "0: cmpl $0, 120(%rbx)\n jne 1f\n"
    "mov $35, %eax\n lea penna_guest_moment(%rip), %rdi\n xor %esi, %esi\n syscall\n"  // nanosleep(100 us)
    "dec %r12d\n jnz 0b\n"
    "mov $3, %eax\n mov 72(%rbx), %rdi\n syscall\n"  // close(fd)
    "lea penna_guest_forgotten(%rip), %rax\n mov %rax, 88(%rbx)\n movl $2, (%rbx)\n jmp 9f\n"
    "1: call *32(%rbx)\n"  // __ctype_init()
    "cmpq $0, 40(%rbx)\n"
    "jne 2f\n"
    "mov 48(%rbx), %rdi\n mov $2, %esi\n call *8(%rbx)\n"  // dlopen(path, RTLD_NOW)
    "mov %rax, %r12\n"
    "mov $3, %eax\n mov 72(%rbx), %rdi\n syscall\n"  // close(fd)
    "test %r12, %r12\n jz 8f\n"
    "mov %r12, %rdi\n lea penna_guest_entry(%rip), %rsi\n call *16(%rbx)\n"  // dlsym(handle, "penna_agent_attach")
    "test %rax, %rax\n jz 8f\n"
    "mov %rax, 40(%rbx)\n"
    "2: mov 56(%rbx), %rdi\n mov 64(%rbx), %rsi\n mov 112(%rbx), %rdx\n"
    "call *40(%rbx)\n"  // penna_agent_attach(socket, attachment, agent)
    "mov %eax, 80(%rbx)\n"
    "movl $1, (%rbx)\n"
    "jmp 9f\n"
    "8: call *24(%rbx)\n mov %rax, 88(%rbx)\n movl $2, (%rbx)\n"  // dlerror()
    "9: mov $60, %eax\n xor %edi, %edi\n syscall\n ud2\n"         // exit(0)
    "penna_guest_nothing: ret\n"
    "penna_guest_name: .asciz \"penna-guest\"\n"
    "penna_guest_entry: .asciz \"penna_agent_attach\"\n"
    "penna_guest_forgotten: .asciz \"its recorder ended\"\n"
    ".balign 8\n"
    "penna_guest_moment: .quad 0, 100000\n"
    "penna_guest_code_end:\n"
    ".text\n");
extern "C" {
extern const uint8_t penna_guest_code[], penna_guest_nothing[], penna_guest_code_end[];
}

namespace penna {
namespace {

struct GuestWords {
  uint32_t state, reserved;  // 1: done, with `answer`; 2: `error` says why not
  CodePtr dlopen, dlsym, dlerror, ctype_init;
  CodePtr attach;  // null: the agent is to be loaded
  RemotePtr<const char> path, socket;
  RemotePtr<penna_attachment> attachment;
  uint64_t agent_fd;
  uint32_t answer, reserved2;
  RemotePtr<const char> error;
  uint32_t tid, reserved3;  // cleared when it ends
  RemoteBytes code;
  RemotePtr<const char> agent;  // its path
  uint32_t go, reserved4;       // 1: the agent's file is filled, and everything is prepared
  char path_text[1100];
  char socket_text[128];
  char agent_text[1024];
};
static_assert(offsetof(GuestWords, dlopen) == 8 && offsetof(GuestWords, ctype_init) == 32 &&
              offsetof(GuestWords, attach) == 40 && offsetof(GuestWords, path) == 48 &&
              offsetof(GuestWords, attachment) == 64 && offsetof(GuestWords, agent_fd) == 72 &&
              offsetof(GuestWords, answer) == 80 && offsetof(GuestWords, error) == 88 &&
              offsetof(GuestWords, agent) == 112 && offsetof(GuestWords, go) == 120);

constexpr uint64_t kFinisher = Guest::kCodeBytes / 2;  // in its code: the same for all versions, as threads stay there

// Writes both parts of the guest's code.
bool write_code(const RemoteMemory& memory, RemoteBytes at) {
  const std::span<const uint8_t> code(penna_guest_code, penna_guest_code_end);
  return code.size() <= kFinisher && memory.write(at, code) && memory.write(at + kFinisher, finishing_code());
}

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kStackEnd = 256 * kKiB, kThreadPointer = 512 * kKiB, kDtv = 540 * kKiB, kAttachment = 576 * kKiB;
constexpr uint64_t kMostPthread = kDtv - kThreadPointer;
constexpr uint64_t kDtvSlots = 2048;
constexpr uint64_t kMostTls = kThreadPointer - kStackEnd;

// glibc's dtv_t. Element -1 is the number of slots, 0 the generation, then there is one for each module.
struct DtvSlot {
  uint64_t value, to_free;
};
static_assert((kDtvSlots + 2) * sizeof(DtvSlot) <= kAttachment - kDtv);

// The beginning of tcbhead_t, at the thread pointer.
struct ThreadHead {
  RemotePtr<ThreadHead> self;
  RemotePtr<DtvSlot> dtv;
  RemotePtr<ThreadHead> self_again;
  uint32_t multiple_threads, reserved;
  uint64_t reserved2;
  uint64_t stack_guard, pointer_guard;
  uint64_t reserved3[2];
  uint64_t feature_bits;
};
static_assert(offsetof(ThreadHead, multiple_threads) == 24 && offsetof(ThreadHead, stack_guard) == 0x28 &&
              offsetof(ThreadHead, feature_bits) == 0x48);

// The offset of a field, as libthread_db's descriptions state it.
std::optional<uint32_t> offset_of(const RemoteMemory& memory, const RemoteSymbols& libc, const char* name) {
  struct Description {
    uint32_t bits, count, offset;
  };
  const auto at = libc.find<Description>(fmt::format("_thread_db_{}", name));
  const auto found = at ? memory.get(at) : std::nullopt;
  return found ? std::optional(found->offset) : std::nullopt;
}

bool write_tls(const RemoteMemory& memory, const std::vector<RemoteLibrary>& libraries, const GuestNeeds& needs,
               RemoteBytes thread_pointer) {
  for (const RemoteLibrary& library : libraries) {
    const auto tls = tls_of(memory, library);
    const auto offset = tls_offset_of(memory, library, needs.tls_offset_at);
    if (!tls || !offset || *offset <= 0) continue;  // not present in every thread
    if (static_cast<uint64_t>(*offset) > kMostTls || tls->bytes > static_cast<uint64_t>(*offset)) return false;
    const std::string image = memory.part(tls->image, tls->bytes);
    if (image.size() != tls->bytes || !memory.write((thread_pointer - *offset).as<char>(), image)) return false;
  }
  return true;
}

// Nothing is allocated yet for any module: libc does so on demand. There is room for all modules that may come, because
// libc would free() a dtv that is too small, and this one is not malloc's.
bool write_dtv(const RemoteMemory& memory, RemotePtr<DtvSlot> dtv) {
  constexpr uint64_t kUnallocated = ~uint64_t{0};
  std::vector<DtvSlot> slots(kDtvSlots + 2, DtvSlot{kUnallocated, 0});
  slots[0] = {kDtvSlots, 0};
  slots[1] = {0, 0};  // generation: the oldest
  return memory.write(dtv - 1, slots);
}

// `at`: where the words will be. False: too long.
bool put_texts(GuestWords* words, RemotePtr<GuestWords> at, const GuestTexts& texts) {
  if (texts.socket.size() >= sizeof words->socket_text || texts.agent.size() >= sizeof words->agent_text) return false;
  std::memcpy(words->socket_text, texts.socket.c_str(), texts.socket.size() + 1);
  std::memcpy(words->agent_text, texts.agent.c_str(), texts.agent.size() + 1);
  words->socket = field(at, &GuestWords::socket_text);
  words->agent = field(at, &GuestWords::agent_text);
  return true;
}

RemotePtr<GuestWords> words_of(const GuestPlace& place) { return place.memory.as<GuestWords>(); }

// What is popped from the stack: where clone(2) returns to by the `ret` after its system call, and %rbx.
struct GuestStart {
  RemoteBytes code;
  RemotePtr<GuestWords> words;
};

bool write_start(const RemoteMemory& memory, const Guest& guest) {
  return memory.write(guest.stack().as<GuestStart>(), {guest.place().code, words_of(guest.place())});
}

}  // namespace

Result<GuestNeeds> find_guest_needs(const RemoteMemory& memory, const std::vector<RemoteLibrary>& libraries,
                                    const RemoteLibrary& libc) {
  const RemoteSymbols symbols(memory, libc);
  GuestNeeds needs;
  needs.dlopen = symbols.find<const uint8_t>("dlopen");
  needs.dlsym = symbols.find<const uint8_t>("dlsym");
  needs.dlerror = symbols.find<const uint8_t>("dlerror");
  needs.ctype_init = symbols.find<const uint8_t>("__ctype_init");
  if (!needs.dlopen || !needs.dlsym || !needs.dlerror)
    return Error{"has a libc without dlopen: Penna needs glibc 2.34 or later"};
  const auto tid = offset_of(memory, symbols, "pthread_tid"), dtv = offset_of(memory, symbols, "pthread_dtvp"),
             offset = offset_of(memory, symbols, "link_map_l_tls_offset");
  const auto size_at = symbols.find<uint32_t>("_thread_db_sizeof_pthread");
  needs.pthread_bytes = size_at ? memory.get_or_zero(size_at) : 0;
  if (!tid || !dtv || !offset || needs.pthread_bytes == 0 || needs.pthread_bytes > kMostPthread || !needs.ctype_init)
    return Error{"has a libc without the thread descriptions that glibc has for debuggers"};
  needs.tid_at = *tid;
  needs.dtv_at = *dtv;
  needs.tls_offset_at = *offset;
  if (const auto at = symbols.find<int64_t>("__rseq_offset")) needs.rseq_at = memory.get_or_zero(at);
  needs.single_threaded[0] = symbols.find<uint8_t>("__libc_single_threaded");
  needs.single_threaded[1] = RemoteSymbols(memory, libraries.front()).find<uint8_t>("__libc_single_threaded");
  return needs;
}

std::optional<int64_t> tls_offset_of(const RemoteMemory& memory, const RemoteLibrary& library, uint32_t tls_offset_at) {
  return memory.get((library.map.as<uint8_t>() + tls_offset_at).as<int64_t>());
}

RemotePtr<penna_attachment> Guest::attachment() const { return (place_.memory + kAttachment).as<penna_attachment>(); }
RemotePtr<uint64_t> Guest::stack() const { return (place_.memory + kStackEnd - 64).as<uint64_t>(); }
RemoteBytes Guest::thread_pointer() const { return place_.memory + kThreadPointer; }
RemotePtr<uint32_t> Guest::ended() const { return field(words_of(place_), &GuestWords::tid); }

bool Guest::prepare(const RemoteMemory& memory, const std::vector<RemoteLibrary>& libraries, const GuestNeeds& needs,
                    RemoteBytes like, int agent_fd, CodePtr attach, const GuestTexts& texts) const {
  GuestWords words{};
  words.attach = attach;
  words.code = place_.code;
  words.dlopen = needs.dlopen, words.dlsym = needs.dlsym, words.dlerror = needs.dlerror;
  words.ctype_init =
      needs.ctype_init ? needs.ctype_init : CodePtr(place_.code + (penna_guest_nothing - penna_guest_code));
  words.path = field(words_of(place_), &GuestWords::path_text);
  words.attachment = attachment();
  words.agent_fd = static_cast<uint64_t>(agent_fd);
  words.tid = 1;
  std::string path = kAgentFolder;
  // glibc keeps a copy of the name passed to dlopen: it is padded so that name_agent() can overwrite it with the real
  // one.
  while (path.size() < texts.agent.size()) path += "./";
  path += std::to_string(agent_fd);
  if (path.size() >= sizeof words.path_text || !put_texts(&words, words_of(place_), texts)) return false;
  std::memcpy(words.path_text, path.c_str(), path.size() + 1);

  penna_attachment shared{};
  shared.magic = PENNA_ATTACH_MAGIC;
  shared.version = PENNA_ABI_VERSION;
  shared.room = static_cast<uint32_t>((kMemoryBytes - kAttachment - sizeof shared) / sizeof(penna_change));

  const auto head = thread_pointer().as<ThreadHead>();
  const auto dtv = (place_.memory + kDtv).as<DtvSlot>() + 1;
  const auto copy = [&](uint64_t ThreadHead::*member) {
    return memory.write(field(head, member), memory.get_or_zero(field(like.as<ThreadHead>(), member)));
  };
  const auto restartable = (thread_pointer() + needs.rseq_at).as<rseq>();
  const bool has_rseq = needs.rseq_at != 0;
  return memory.write(words_of(place_), words) && memory.write(attachment(), shared) && write_start(memory, *this) &&
         memory.write(field(head, &ThreadHead::self), head) && memory.write(field(head, &ThreadHead::dtv), dtv) &&
         memory.write(field(head, &ThreadHead::self_again), head) &&
         memory.write(field(head, &ThreadHead::multiple_threads), 1) && copy(&ThreadHead::stack_guard) &&
         copy(&ThreadHead::pointer_guard) &&
         // Not a copy of the thread's own struct pthread: it has lists that other threads are linked into.
         copy(&ThreadHead::feature_bits) && write_dtv(memory, dtv) &&
         (!has_rseq || memory.write(field(restartable, &rseq::cpu_id), RSEQ_CPU_ID_UNINITIALIZED)) &&
         write_tls(memory, libraries, needs, thread_pointer()) && write_code(memory, place_.code);
}

Guest Guest::of(const RemoteMemory& memory, RemotePtr<penna_attachment> attachment) {
  const RemoteBytes start = attachment.as<uint8_t>() - kAttachment;
  return Guest({memory.get_or_zero(field(start.as<GuestWords>(), &GuestWords::code)), start});
}

bool Guest::go(const RemoteMemory& memory) const { return memory.write(field(words_of(place_), &GuestWords::go), 1); }

bool Guest::is_running(const RemoteMemory& memory) const { return memory.get_or_zero(ended()) != 0; }

bool Guest::prepare_again(const RemoteMemory& memory, CodePtr attach, const GuestTexts& texts) const {
  auto words = memory.get(words_of(place_));
  if (!words || !put_texts(&*words, words_of(place_), texts)) return false;
  words->state = words->answer = words->go = 0;
  words->attach = attach;
  words->tid = 1;
  return memory.write(words_of(place_), *words) && write_start(memory, *this) && write_code(memory, place_.code);
}

CodePtr Guest::finisher(const RemoteMemory& memory) const {
  const std::span<const uint8_t> code = finishing_code();
  const std::string there = memory.part(place_.code + kFinisher, code.size());
  const bool is_there = place_.code && std::equal(code.begin(), code.end(), there.begin(), there.end(),
                                                  [](uint8_t a, char b) { return a == static_cast<uint8_t>(b); });
  return is_there ? CodePtr(place_.code + kFinisher) : CodePtr();
}

bool Guest::set_attach(const RemoteMemory& memory, CodePtr attach) const {
  return memory.write(field(words_of(place_), &GuestWords::attach), attach);
}

bool Guest::set_refusals(const RemoteMemory& memory, uint32_t refusals) const {
  return memory.write(field(attachment(), &penna_attachment::refusals), refusals);
}

std::optional<std::string> Guest::outcome(const RemoteMemory& memory) const {
  auto words = memory.get(words_of(place_));
  // Read once more: what it wrote before it ended may be newer than what was read.
  if (words && words->tid == 0) words = memory.get(words_of(place_));
  if (!words) return "has ended meanwhile";
  if (words->state == 2) return "could not load the agent: " + memory.text(words->error);
  if (words->tid != 0) return {};
  if (words->state == 0)
    return "has ended the thread that was to load the agent (a seccomp filter?): use --via breakpoint";
  switch (words->answer) {
    case PENNA_ATTACHED: return "";
    case PENNA_ATTACH_UNWINDER:
      return "has an unwinder that cannot find the agent's frames (_Unwind_Find_FDE): record it with --via breakpoint";
    case PENNA_ATTACH_AGAIN: return "was recorded another way before: restart it";
    default:
      return "could not connect to the recorder, for want of a socket or of memory for the event buffer: raise its "
             "limits (prlimit), or use --via breakpoint";
  }
}

}  // namespace penna
