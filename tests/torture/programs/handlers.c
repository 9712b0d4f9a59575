/* SPDX-License-Identifier: MIT
 * Uses SIGSEGV, SIGTRAP, SIGILL, SIGFPE and SIGBUS itself, as runtimes do: each fault must reach its own handler. */
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "torture.h"

static sigjmp_buf back;
static volatile sig_atomic_t seen[NSIG];
static char* page;
static void* volatile nowhere = (void*)8;

static void on_fault(int signal, siginfo_t* info, void* context) {
  (void)context;
  seen[signal]++;
  work(2);
  if (signal == SIGSEGV && info->si_addr == page) { /* like a garbage collector's write barrier: repair and continue */
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    return;
  }
  if (signal == SIGTRAP) return;
  siglongjmp(back, signal);
}

int main(void) {
  const int signals[] = {SIGSEGV, SIGTRAP, SIGILL, SIGFPE, SIGBUS};
  for (int i = 0; i < 5; i++) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, old;
    if (sigaction(signals[i], &action, &old) != 0 || old.sa_handler != SIG_DFL) printf("%d was taken\n", signals[i]);
  }
  page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (volatile int i = 0; i < 200; i++) {
    work(3);
    __asm__ volatile("int3");
    mprotect(page, 4096, PROT_NONE);
    *(volatile char*)page = 1;
    if (sigsetjmp(back, 1) == 0) *(volatile int*)nowhere = 1;
    if (sigsetjmp(back, 1) == 0) __asm__ volatile("ud2");
    if (sigsetjmp(back, 1) == 0) __asm__ volatile("div %0" : : "r"(0) : "eax", "edx");
    if (sigsetjmp(back, 1) == 0) raise(SIGBUS);
  }
  for (int i = 0; i < 5; i++) printf("signal %d: %d\n", signals[i], (int)seen[signals[i]]);
}
