// SPDX-License-Identifier: MIT
// C++20 coroutines: entered on one thread, resumed on another, destroyed half way.
#include <coroutine>
#include <exception>
#include <string>
#include <thread>

#include "torture.h"

struct Generator {
  struct promise_type {
    long value = 0;
    Generator get_return_object() { return Generator{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(long next) {
      value = next;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

static Generator numbers(int count, std::string tag) {
  for (int i = 0; i < count; i++) co_yield work(i % 6) + static_cast<long>(tag.size());
}

int main() {
  long sum = 0;
  for (int round = 0; round < 200; round++) {
    Generator generator = numbers(10, std::string(40, 'x'));
    for (int i = 0; i < 4; i++) generator.handle.resume(), sum += generator.handle.promise().value;
    if (round % 20 == 0)
      std::thread([&] { generator.handle.resume(), sum += generator.handle.promise().value; }).join();
    generator.handle.destroy();
  }
  std::printf("sum %ld\n", sum);
}
