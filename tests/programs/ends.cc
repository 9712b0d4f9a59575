// SPDX-License-Identifier: MIT
// ./ends: calls in two threads, in a forked child, and a chain of calls that ends in a crash.
#include <sys/wait.h>
#include <unistd.h>
#include <thread>
__attribute__((noipa)) void leaf() {}
__attribute__((noipa)) void c() { *(volatile int*)8 = 1; }
__attribute__((noipa)) void b() { c(); }
__attribute__((noipa)) void work() { leaf(); }
int main() {
  std::thread first(work), second(work);
  first.join(), second.join();
  if (fork() == 0) {
    work();
    _exit(0);
  }
  wait(nullptr);
  b();
}
