// SPDX-License-Identifier: MIT
// Checks its own sums forever: blocks, mutexes, exceptions, jumps, coroutines, its own callers, waits with a timeout,
// children, libraries that are loaded and unloaded. With "signals", SIGALRM comes a thousand times a second; with
// "headless", the first thread ends while the others go on. Recorders attach and detach meanwhile (attach.py).
//
// Prints the number of rounds; "WRONG ..." and exit status 3 if a sum is wrong or a call fails that must not.
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <stdexcept>
#include <string>

extern "C" const char __start_looking[], __stop_looking[];

namespace {

constexpr int kMutexes = 4;
pthread_mutex_t mutexes[kMutexes] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                     PTHREAD_MUTEX_INITIALIZER};
long guarded[kMutexes];
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
std::atomic<long> rounds;
bool signals;

[[noreturn]] void wrong(const char* what) {
  printf("WRONG %s: %s\n", what, strerror(errno));
  fflush(stdout);
  _exit(3);
}

void blocks_and_mutexes(unsigned* seed, unsigned char id) {
  const size_t bytes = static_cast<size_t>(rand_r(seed)) % 2000 + 1;
  auto* block = static_cast<unsigned char*>(malloc(bytes));
  memset(block, id, bytes);
  const int which = rand_r(seed) % kMutexes;
  pthread_mutex_lock(&mutexes[which]);
  const long before = guarded[which];
  guarded[which] = before + 1;
  if (guarded[which] != before + 1) wrong("mutex");
  pthread_mutex_unlock(&mutexes[which]);
  block = static_cast<unsigned char*>(realloc(block, bytes * 2));
  for (size_t i = 0; i < bytes; ++i)
    if (block[i] != id) wrong("block");
  free(block);
}

void throw_and_catch(long round) {
  try {
    throw std::runtime_error("round " + std::to_string(round));
  } catch (const std::exception& error) {
    if (error.what() != "round " + std::to_string(round)) wrong("exception");
  }
}

// A stop ends epoll_wait with EINTR, and prolongs a sleep in poll; neither may be visible.
void wait_a_little() {
  const int epoll = epoll_create1(0);
  epoll_event event;
  const int ready = epoll_wait(epoll, &event, 1, 1);
  if (ready != 0 && !(signals && errno == EINTR)) wrong("epoll_wait");
  close(epoll);
  pollfd none{-1, 0, 0};
  if (poll(&none, 1, 1) != 0 && !(signals && errno == EINTR)) wrong("poll");
}

void wait_for_nobody() {
  timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_nsec += 1'000'000;
  if (end.tv_nsec >= 1'000'000'000) end.tv_nsec -= 1'000'000'000, ++end.tv_sec;
  pthread_mutex_lock(&mutexes[0]);
  if (pthread_cond_timedwait(&never, &mutexes[0], &end) != ETIMEDOUT) wrong("pthread_cond_timedwait");
  pthread_mutex_unlock(&mutexes[0]);
}

void have_a_child() {
  const pid_t child = fork();
  if (child == 0) {
    char* text = strdup("child");
    const bool same = strcmp(text, "child") == 0;
    free(text);
    _exit(same ? 7 : 8);
  }
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) wrong("waitpid");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) wrong("child");
}

void open_a_library() {
  void* library = dlopen("libm.so.6", RTLD_NOW);
  if (library == nullptr) wrong("dlopen");
  const auto cosine = reinterpret_cast<double (*)(double)>(dlsym(library, "cos"));
  if (cosine == nullptr || cosine(0) != 1) wrong("dlsym");
  dlclose(library);
}

// Places saved long ago, perhaps before a recorder attached.
struct Saved {
  jmp_buf place;
  ucontext_t here, there;
  char stack[64 << 10];
  long turns = 0;
};

[[noreturn]] __attribute__((noinline)) void jump_out(Saved& saved, int depth) {
  asm volatile("" ::: "memory");
  if (depth == 0) longjmp(saved.place, 1);
  jump_out(saved, depth - 1);
}

__attribute__((noinline)) long take_turns(Saved& saved, int depth) {
  if (depth != 0) return take_turns(saved, depth - 1) + 1;
  for (;;) {
    ++saved.turns;
    swapcontext(&saved.there, &saved.here);
  }
}

void start_coroutine(Saved& saved) {
  getcontext(&saved.there);
  saved.there.uc_stack.ss_sp = saved.stack;
  saved.there.uc_stack.ss_size = sizeof saved.stack;
  saved.there.uc_link = nullptr;
  makecontext(&saved.there, reinterpret_cast<void (*)()>(&take_turns), 2, &saved, 5);
}

struct Callers {
  void* frames[64];
  int count = 0;
};

_Unwind_Reason_Code add_caller(_Unwind_Context* context, void* into) {
  auto& callers = *static_cast<Callers*>(into);
  callers.frames[callers.count] = reinterpret_cast<void*>(_Unwind_GetIP(context));
  return ++callers.count == 64 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// In a section of its own, so that its return addresses can be told.
__attribute__((noinline, section("looking"))) void look_at_callers(int depth, bool by_unwinder, Callers& callers) {
  if (depth != 0)
    look_at_callers(depth - 1, by_unwinder, callers);
  else if (by_unwinder)
    _Unwind_Backtrace(add_caller, &callers);
  else
    callers.count = backtrace(callers.frames, 64);
  asm volatile("");
}

void look_back(bool by_unwinder) {
  Callers callers;
  look_at_callers(5, by_unwinder, callers);
  int found = 0;
  for (int i = 0; i < callers.count; ++i) {
    Dl_info info;
    found += callers.frames[i] >= __start_looking && callers.frames[i] < __stop_looking;
    if (dladdr(callers.frames[i], &info) != 0 && strstr(info.dli_fname, "libpenna") != nullptr) wrong("backtrace");
  }
  if (found != 6) wrong("callers");
}

void* work(void* argument) {
  auto* const saved = new Saved;
  start_coroutine(*saved);
  volatile int jumps = 0;
  if (setjmp(saved->place) != 0) ++jumps;
  const auto id = reinterpret_cast<long>(argument);
  unsigned seed = static_cast<unsigned>(id) * 77 + 1;
  for (long round = jumps;; ++round, ++rounds) {
    blocks_and_mutexes(&seed, static_cast<unsigned char>(id));
    if (id % 6 == 1) throw_and_catch(round);
    const long turns = saved->turns;
    swapcontext(&saved->here, &saved->there);
    if (saved->turns != turns + 1) wrong("coroutine");
    if (round % 20 == 7) look_back(round % 40 == 7);
    if (round % 100 == 99) jump_out(*saved, 5);
    if (id % 6 == 2 && round % 50 == 0) wait_a_little();
    if (id % 6 == 3 && round % 500 == 0) have_a_child();
    if (id % 6 == 4 && round % 500 == 0) open_a_library();
    if (id % 6 == 5 && round % 100 == 0) wait_for_nobody();
  }
}

void* tell(void*) {
  for (;;) {
    timespec pause{0, 50'000'000};
    nanosleep(&pause, nullptr);
    printf("%ld\n", rounds.load());
    fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long threads = argc > 1 ? atol(argv[1]) : 6;
  signals = argc > 2 && strcmp(argv[2], "signals") == 0;
  const bool headless = argc > 2 && !signals;
  if (signals) {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    const itimerval often{{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &often, nullptr);
  }
  for (long i = 1; i < threads; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, work, reinterpret_cast<void*>(i));
  }
  if (threads == 1) work(nullptr);
  if (headless) {
    pthread_t thread;
    pthread_create(&thread, nullptr, tell, nullptr);
    pthread_exit(nullptr);
  }
  tell(nullptr);
}
