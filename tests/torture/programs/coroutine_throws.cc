// SPDX-License-Identifier: MIT
// C++20 coroutines that throw: from their first step and from later ones, into their resumer, through others that wait.
#include <coroutine>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "torture.h"

// A task that runs when it is awaited, and then resumes its awaiter.
struct Task {
  struct promise_type {
    long value = 0;
    std::exception_ptr error;
    std::coroutine_handle<> waiter = std::noop_coroutine();
    struct Final {
      bool await_ready() noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> self) noexcept { self.promise().waiter.resume(); }
      void await_resume() noexcept {}
    };
    Task get_return_object() { return Task{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    Final final_suspend() noexcept { return {}; }
    void return_value(long result) { value = result; }
    void unhandled_exception() { error = std::current_exception(); }
  };
  std::coroutine_handle<promise_type> handle;
  explicit Task(std::coroutine_handle<promise_type> made) : handle(made) {}
  Task(Task&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  ~Task() {
    if (handle) handle.destroy();
  }
  bool await_ready() { return false; }
  // A call: gcc 12 cannot compile a handle as result in instrumented functions.
  void await_suspend(std::coroutine_handle<> waiter) {
    handle.promise().waiter = waiter;
    handle.resume();
  }
  long await_resume() {
    if (handle.promise().error) std::rethrow_exception(handle.promise().error);
    return handle.promise().value;
  }
};

static long caught;

NOINLINE static long step(int depth) {
  if (depth % 4 == 0) throw std::runtime_error("step " + std::to_string(depth));
  return work(depth % 3);
}

static Task descend(int depth) {
  std::string kept(30, 'x');
  if (depth == 0) co_return step(0);
  try {
    const long below = co_await descend(depth - 1);
    co_return below + step(depth);
  } catch (const std::runtime_error&) {
    ++caught;
    if (depth % 3 == 0) throw;
  }
  co_return static_cast<long>(kept.size());
}

int main() {
  long sum = 0, uncaught = 0;
  for (int round = 0; round < 300; ++round) {
    Task task = descend(round % 13);
    task.handle.resume();
    try {
      sum += task.await_resume();
    } catch (const std::runtime_error&) {
      ++uncaught;
    }
  }
  std::printf("sum %ld, caught %ld, uncaught %ld\n", sum, caught, uncaught);
}
