// SPDX-License-Identifier: MIT
// Walks in signal handlers: on the same stack, on an alternate one, at every instruction, and in the middle of a walk.
#include <gtest/gtest.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <atomic>
#include <climits>
#include <random>

#include "shapes.h"
#include "support.h"

extern "C" void penna_test_single_step(Shape function, Chain& chain);

namespace penna::unwind {
namespace {

// Installs a handler for the time of a test.
class Handler {
 public:
  Handler(int signal, void (*function)(int, siginfo_t*, void*), int flags = 0) : signal_(signal) {
    struct sigaction action {};
    action.sa_sigaction = function;
    action.sa_flags = SA_SIGINFO | flags;
    sigaction(signal, &action, &old_);
  }
  ~Handler() { sigaction(signal_, &old_, nullptr); }

 private:
  int signal_;
  struct sigaction old_;
};

class AlternateStack {
 public:
  AlternateStack() {
    stack_t stack{};
    stack.ss_sp = memory_ = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack.ss_size = kSize;
    sigaltstack(&stack, nullptr);
  }
  ~AlternateStack() {
    stack_t stack{};
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, nullptr);
    munmap(memory_, kSize);
  }
  bool holds(uintptr_t address) const { return address - reinterpret_cast<uintptr_t>(memory_) < kSize; }

 private:
  static constexpr size_t kSize = 256 << 10;
  void* memory_;
};

struct Seen {
  Unwinder unwinder;
  WalkResult from_handler, again, from_context;
  std::vector<uintptr_t> handler_stack, handler_reference, context_stack, context_reference, again_stack;
  uintptr_t handler_sp = 0;
};
Seen* seen;

[[gnu::noinline]] void look() {
  volatile int turns = 2;
  for (int i = 0; i < turns; ++i) {
    seen->from_handler = seen->again;
    const Registers start = caller_registers();
    seen->handler_sp = start.sp;
    seen->again = seen->unwinder.walk(start);
  }
  seen->handler_reference = reference_stack();
}

void on_signal(int, siginfo_t*, void* context) {
  look();
  const auto& interrupted = *static_cast<const ucontext_t*>(context);
  seen->from_context = seen->unwinder.walk(interrupted_registers(interrupted));
  seen->context_reference = reference_stack(interrupted);
}

void read_stacks() {
  seen->handler_stack = seen->unwinder.tree.stack(seen->from_handler.node);
  seen->again_stack = seen->unwinder.tree.stack(seen->again.node);
  seen->context_stack = seen->unwinder.tree.stack(seen->from_context.node);
}

void check_stacks() {
  read_stacks();
  EXPECT_EQ(seen->from_handler.end, End::complete);
  EXPECT_EQ(seen->from_context.end, End::complete);
  EXPECT_EQ(seen->handler_stack, seen->handler_reference) << describe(seen->handler_stack) << "\n"
                                                          << describe(seen->handler_reference);
  EXPECT_EQ(seen->again_stack, seen->handler_reference);
  EXPECT_EQ(seen->context_stack, seen->context_reference) << describe(seen->context_stack) << "\n"
                                                          << describe(seen->context_reference);
  EXPECT_GT(seen->handler_stack.size(), seen->context_stack.size());
}

TEST(Signal, HandlerOnTheSameStack) {
  Seen here;
  seen = &here;
  Handler handler(SIGUSR1, on_signal);
  raise(SIGUSR1);
  check_stacks();
  EXPECT_EQ(here.again.fresh, 0U) << "on one stack, a signal frame is cached like any other";
}

TEST(Signal, HandlerOnAnAlternateStack) {
  Seen here;
  seen = &here;
  AlternateStack stack;
  Handler handler(SIGUSR1, on_signal, SA_ONSTACK);
  raise(SIGUSR1);
  check_stacks();
  EXPECT_TRUE(stack.holds(here.handler_sp));
}

// A handler on the alternate stack interrupts a coroutine; then the coroutine's stack is unmapped, and the same handler
// runs again with the same inner frames. What was remembered of the coroutine must not even be looked at.
TEST(Signal, InterruptedStackIsGoneNextTime) {
  Seen here;
  seen = &here;
  AlternateStack stack;
  Handler handler(SIGUSR1, on_signal, SA_ONSTACK);
  static ucontext_t back, coroutine;
  constexpr size_t kSize = 128 << 10;
  for (int round = 0; round < 3; ++round) {
    void* memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = memory;
    coroutine.uc_stack.ss_size = kSize;
    coroutine.uc_link = &back;
    makecontext(
        &coroutine, [] { raise(SIGUSR1); }, 0);
    swapcontext(&back, &coroutine);
    check_stacks();
    munmap(memory, kSize);
    raise(SIGUSR1);
    check_stacks();
  }
}

// Alternates between stacks: main's own, then `foreign`, then a buffer on main's own again.
constexpr size_t kBufferBytes = 128 << 10;
char* inner_buffer;  // lies in the frame of interrupt_twice()

void set_alternate_stack(void* memory, int flags) {
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = kBufferBytes;
  stack.ss_flags = flags;
  sigaltstack(&stack, nullptr);
}

// SS_AUTODISARM of linux/signal.h, which clashes with glibc's signal.h: a handler on the alternate stack may register
// another one.
constexpr int kAutoDisarm = INT_MIN;

void on_foreign_stack(int, siginfo_t*, void*) {
  set_alternate_stack(inner_buffer, 0);
  raise(SIGUSR2);
}

[[gnu::noinline]] void interrupt_twice(void* foreign) {
  char buffer[kBufferBytes];
  inner_buffer = buffer;
  set_alternate_stack(foreign, kAutoDisarm);
  raise(SIGUSR1);
  set_alternate_stack(nullptr, SS_DISABLE);
  inner_buffer = nullptr;
  asm volatile("" : : "r"(buffer) : "memory");
}

// The walk begins and ends on the thread's own stack, so its range says nothing of the foreign stack in between. If such
// a walk were remembered, the next one would read the words of that stack, which is unmapped by then.
TEST(Signal, WalkAcrossStacksIsNotRemembered) {
  Seen here;
  seen = &here;
  Handler outer(SIGUSR1, on_foreign_stack, SA_ONSTACK), inner(SIGUSR2, on_signal, SA_ONSTACK);
  volatile int rounds = 3;  // one call site: the same frames on the own stack each time
  for (int round = 0; round < rounds; ++round) {
    void* foreign = mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    interrupt_twice(foreign);
    munmap(foreign, kBufferBytes);
    check_stacks();
    EXPECT_EQ(here.again.fresh, here.again.depth) << round;
  }
}

TEST(Signal, FaultingInstruction) {
  Seen here;
  seen = &here;
  static sigjmp_buf back;
  Handler handler(SIGSEGV, [](int, siginfo_t*, void* context) {
    on_signal(0, nullptr, context);
    siglongjmp(back, 1);
  });
  if (sigsetjmp(back, 1) == 0) {
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;  // NOLINT(clang-analyzer-core.NullDereference): on purpose
  }
  check_stacks();
}

// A tree that may be used from a handler that interrupts its use, or malloc: no allocation, one compare and swap a node.
class FlatTree {
 public:
  uint32_t intern(uint32_t parent, uintptr_t pc) {
    const uint64_t key = uint64_t{parent} << 48 | pc;
    for (uint64_t at = key * 0x9e3779b97f4a7c15ULL >> 49, probes = 0; probes < kSlots;
         at = (at + 1) % kSlots, ++probes) {
      uint64_t found = 0;
      if (slots_[at].compare_exchange_strong(found, key) || found == key) return static_cast<uint32_t>(at) + 1;
    }
    return 0;
  }
  uint32_t parent_of(uint32_t node, uintptr_t pc) const {
    if (node - 1 >= kSlots) return kNoNode;
    const uint64_t key = slots_[node - 1].load();
    return key << 16 == pc << 16 ? static_cast<uint32_t>(key >> 48) : kNoNode;
  }
  void on_new_pc(uintptr_t, const dl_find_object&) {}

  // Fills `pcs` from `node` outwards; returns how many there are.
  size_t stack(uint32_t node, uintptr_t* pcs, size_t limit) const {
    size_t count = 0;
    for (; node != 0 && count < limit; node = static_cast<uint32_t>(slots_[node - 1].load() >> 48))
      pcs[count++] = slots_[node - 1].load() & ((uint64_t{1} << 48) - 1);
    return count;
  }

 private:
  static constexpr size_t kSlots = 1 << 15;
  std::atomic<uint64_t> slots_[kSlots] = {};
};

// Every instruction of every shape: the trap flag makes the processor stop after each one, and the walk from there must
// end with the very frames that the stepped function was called from. Prologues, epilogues and the PLT included.
struct Stepping {
  static constexpr size_t kMax = 256;
  Zeroed<Unwinder::Block> block;
  Walker walker{RuleCache(block.memory), {}};
  Zeroed<ThreadMemory> memory;
  Zeroed<FlatTree> tree;
  uintptr_t outer[kMax];  // the frames outside of the stepped call, innermost first
  size_t outer_count = 0;
  uintptr_t wrong_stack[kMax];
  size_t wrong_count = 0, wrong = 0, steps = 0, truncated = 0;
};
Stepping* stepping;

void on_step(int, siginfo_t*, void* context) {
  const auto& interrupted = *static_cast<const ucontext_t*>(context);
  const WalkResult result =
      walk(stepping->walker, interrupted_registers(interrupted), *stepping->memory, *stepping->tree);
  uintptr_t stack[Stepping::kMax];
  const size_t count = stepping->tree->stack(result.node, stack, Stepping::kMax);
  const size_t outer = stepping->outer_count;
  ++stepping->steps;
  if (result.end == End::unsupported) {  // ends early, and says so: the prologue of a realigned stack, ld.so's resolver
    ++stepping->truncated;
    return;
  }
  const bool ends_so =
      count >= outer && std::memcmp(stack + count - outer, stepping->outer, outer * sizeof *stack) == 0;
  if (result.end == End::complete && ends_so) return;
  if (stepping->wrong++ != 0) return;
  std::memcpy(stepping->wrong_stack, stack, count * sizeof *stack);
  stepping->wrong_count = count;
}

void leaf(Chain& chain) { chain.sum += 5; }

[[gnu::noinline]] void take_outer() {
  const WalkResult result = walk(stepping->walker, caller_registers(), *stepping->memory, *stepping->tree);
  uintptr_t stack[Stepping::kMax];
  const size_t count = stepping->tree->stack(result.node, stack, Stepping::kMax);
  stepping->outer_count = count - 1;  // without our own caller: its pc moves
  std::memcpy(stepping->outer, stack + 1, (count - 1) * sizeof *stack);
}

[[gnu::noinline]] void step_through(Shape shape, Chain& chain) {
  take_outer();
  penna_test_single_step(shape, chain);
  asm volatile("");
}

TEST(Signal, EveryInstructionOfEveryShape) {
  size_t builds = 0;
  const Shapes* all = penna_test_shapes(&builds);
  size_t steps = 0, truncated = 0;
  for (size_t build = 0; build < builds; ++build) {
    Stepping here;
    stepping = &here;
    Handler handler(SIGTRAP, on_step);
    for (size_t i = 0; i < all[build].count; ++i) {
      // Not the shapes that throw: libunwind, which these tests link, takes part in that and blocks all signals.
      if (i == 12 || i == 13) continue;
      Chain chain{leaf, nullptr, i};
      here.wrong = 0;
      step_through(all[build].first[i], chain);
      EXPECT_EQ(here.wrong, 0U) << all[build].build << " shape " << i << "\n"
                                << describe({here.wrong_stack, here.wrong_stack + here.wrong_count});
    }
    stepping = nullptr;
    steps += here.steps;
    truncated += here.truncated;
  }
  std::printf("%zu instructions, %zu of them in frames whose CFI needs other registers\n", steps, truncated);
  EXPECT_LT(truncated * 10, steps);
  EXPECT_GT(steps, 5000U);
}

struct Nested {
  Zeroed<Unwinder::Block> block;
  Walker walker{RuleCache(block.memory), {}};
  Zeroed<ThreadMemory> shared, own;  // `shared` is walked on by the handler, too
  Zeroed<FlatTree> tree;
  std::atomic<size_t> signals{0};
  size_t checks = 0, wrong = 0, interrupted = 0, depth = 0;
  std::mt19937 random{5};
};
Nested* nested;

void on_tick(int, siginfo_t*, void*) {
  ++nested->signals;
  walk(nested->walker, caller_registers(), *nested->shared, *nested->tree);
}

[[gnu::noinline]] void check_nested() {
  const Registers start = caller_registers();
  const WalkResult result = walk(nested->walker, start, *nested->shared, *nested->tree);
  nested->own->count = 0;
  const WalkResult truth = walk(nested->walker, start, *nested->own, *nested->tree);
  ++nested->checks;
  nested->interrupted += result.end == End::interrupted;
  nested->wrong += result.end != End::interrupted && (result.node != truth.node || result.depth != truth.depth);
}

void grow_nested(Chain& chain) {
  check_nested();
  const Shapes& shapes = *static_cast<const Shapes*>(chain.context);
  // Two shapes a level, so that the stacks fit the tree.
  if (++nested->depth < 8) shapes.first[nested->depth + nested->random() % 2](chain);
  --nested->depth;
  check_nested();
}

TEST(Signal, WalkInterruptedByAWalkOnTheSameMemory) {
  Nested here;
  nested = &here;
  Handler handler(SIGALRM, on_tick, SA_RESTART);
  size_t builds = 0;
  const Shapes* all = penna_test_shapes(&builds);
  ASSERT_GE(builds, 7U);
  // Another thread sends signals without end: a timer would hit too seldom.
  std::atomic<bool> stop{false};
  pthread_t main_thread = pthread_self(), sender;
  struct Args {
    std::atomic<bool>* stop;
    pthread_t target;
  } args{&stop, main_thread};
  pthread_create(
      &sender, nullptr,
      [](void* raw) -> void* {
        auto* a = static_cast<Args*>(raw);
        while (!*a->stop) {
          pthread_kill(a->target, SIGALRM);
          const timespec pause{0, 1000};
          nanosleep(&pause, nullptr);
        }
        return nullptr;
      },
      &args);
  for (int round = 0; (here.signals < 5'000 || round < 2'000) && round < 100'000; ++round) {
    Chain chain{grow_nested, const_cast<Shapes*>(&all[static_cast<size_t>(round) % 3 * 3]), 0};
    grow_nested(chain);
  }
  stop = true;
  pthread_join(sender, nullptr);
  std::printf("%zu walks, %zu signals, %zu walks given up\n", here.checks, here.signals.load(), here.interrupted);
  EXPECT_EQ(here.wrong, 0U);
  EXPECT_GT(here.signals, 500U);
  EXPECT_LT(here.interrupted * 100, here.checks);
}

}  // namespace
}  // namespace penna::unwind
