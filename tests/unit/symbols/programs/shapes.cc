// SPDX-License-Identifier: MIT
// A program with every form of name and of inlining that symbols must handle; built by the tests in many ways.
#include <pthread.h>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

pthread_mutex_t global_mutex = PTHREAD_MUTEX_INITIALIZER;
static int file_static_table[16];

namespace {
pthread_mutex_t hidden_mutex = PTHREAD_MUTEX_INITIALIZER;
inline int square(int x) { return x * x + file_static_table[x & 15]; }
__attribute__((noinline)) int hidden_function(int x) { return square(x) + 1; }
struct Local {
  int factor;
  __attribute__((noinline)) int times(int x) const { return square(x) * factor; }
};
}  // namespace

extern "C" {
__attribute__((noinline)) int plain_c(int x) { return hidden_function(x) ^ 0x55; }
int plain_c_alias(int x) __attribute__((weak, alias("plain_c")));
int __plain_c_internal(int x) __attribute__((alias("plain_c")));
}

namespace shapes {
template <typename T>
struct Box {
  T value;
  __attribute__((noinline)) T get(T k) const { return value + k * square(static_cast<int>(k)); }
  T light(T k) const { return value - k * square(static_cast<int>(k)); }
};
__attribute__((noinline)) int over(int x) { return square(x) + 3; }
__attribute__((noinline)) int over(double x) { return static_cast<int>(x * 2) + square(static_cast<int>(x)); }
__attribute__((noinline)) int over(const std::string& x) { return static_cast<int>(x.size()) + square(5); }
struct Base {
  virtual ~Base() = default;
  virtual int area(int x) const { return square(x); }
};
struct Derived : Base {
  std::vector<int> values;
  int area(int x) const override { return std::accumulate(values.begin(), values.end(), x); }
  bool operator<(const Derived& other) const { return values.size() < other.values.size(); }
  explicit operator std::string() const { return std::to_string(values.size()); }
};
}  // namespace shapes

template <typename F>
__attribute__((noinline)) int apply(F function, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += function(i);
  return sum;
}

__attribute__((always_inline)) static inline int deep3(int x) { return square(x) + shapes::Box<long>{x}.light(x) % 7; }
__attribute__((always_inline)) static inline int deep2(int x) { return deep3(x) + deep3(x + 1); }
__attribute__((always_inline)) static inline int deep1(int x) { return deep2(x) * 3 + deep2(x - 1); }

__attribute__((noinline, cold)) static int unlikely_path(int x) {
  std::printf("cold %d\n", x);
  return x;
}

int main(int argc, char** argv) {
  struct InMain {
    __attribute__((noinline)) static int method(int x) {
      std::printf("%d\n", x);
      return square(x) + 3;
    }
  };
  Local local{argc};
  std::map<std::string, std::vector<int>> table;
  for (int i = 0; i < argc + 20; ++i) table[std::string(argv[0]) + std::to_string(i)].push_back(i);
  auto adder = [&](int i) { return local.times(i) + shapes::Box<long>{i}.get(argc) + InMain::method(i); };
  auto heavy = [&](int i) __attribute__((noinline)) {
    std::puts("heavy");
    return i * argc;
  };
  std::vector<int> values{3, 1, 2};
  for (auto& [key, list] : table) values.insert(values.end(), list.begin(), list.end());
  std::sort(values.begin(), values.end(), [](int a, int b) { return a > b; });
  auto derived = std::make_unique<shapes::Derived>();
  derived->values = values;
  std::unique_ptr<shapes::Base> base = std::move(derived);
  if (argc > 5) unlikely_path(argc);
  pthread_mutex_lock(&global_mutex);
  pthread_mutex_lock(&hidden_mutex);
  int result = apply(adder, argc) + apply(heavy, argc) + deep1(argc) + shapes::over(argc) + shapes::over(1.5 * argc) +
               shapes::over(std::string("abc")) + base->area(argc) + plain_c(argc);
  pthread_mutex_unlock(&hidden_mutex);
  pthread_mutex_unlock(&global_mutex);
  return result & 1;
}
