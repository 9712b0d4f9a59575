/* SPDX-License-Identifier: MIT
 *
 * libpenna-etrace.so, linked to a program or preloaded: records its calls if there is a TRACE where it starts.
 *   TRACE is a link to a socket: an etrace waits there (etrace PROGRAM), and shows the calls as they are recorded.
 *   TRACE is a file, empty or a recording: it becomes the recording of this run, for etrace PROGRAM to show later. An
 *     etrace is started to write it: a writer in this process would die with it, and a crash is what people look for.
 *   else: nothing happens.
 *
 * The hooks are those of libpenna-agent.so. This library is its filter (DT_AUXILIARY): the dynamic linker places the
 * agent before it in the symbol search order, and so before libc, whether this library was linked or preloaded.
 * Invariant: nothing here changes what the program does; no file is created, and none replaced that is not ours. What
 * is checked is held by a descriptor: a name may be exchanged by the owner of the directory.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "penna/detail/join.h"

#define TRACE "TRACE"
#define MAX_SOCKET_NAME 108 /* unix(7) */
#define EXPORT __attribute__((visibility("default")))

/* For the static linker, which would otherwise drop a library that nothing seems to need. At run time the agent's hooks
 * come first. */
EXPORT void __cyg_profile_func_enter(void* function, void* caller);
EXPORT void __cyg_profile_func_exit(void* function, void* caller);
void __cyg_profile_func_enter(void* function, void* caller) { (void)function, (void)caller; }
void __cyg_profile_func_exit(void* function, void* caller) { (void)function, (void)caller; }

/* ---- Live -------------------------------------------------------------------------------------------------------- */

/* The link's owner was checked; readlinkat() with an empty name reads that very link, by its descriptor. */
static void join(int link) {
  char path[MAX_SOCKET_NAME];
  const ssize_t length = readlinkat(link, "", path, sizeof path - 1);
  if (length <= 0 || path[0] != '/' || (size_t)length >= sizeof path - 1) return;
  path[length] = '\0';
  (void)penna_agent_join(path); /* refused: no etrace waits there any more */
}

/* ---- Into the file ----------------------------------------------------------------------------------------------- */

/* What compilers call with -finstrument-functions, -pg and -pg -mfentry. */
static int is_hook(const char* name) {
  static const char* const hooks[] = {"__cyg_profile_func_enter", "mcount", "_mcount", "__fentry__"};
  for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++)
    if (strcmp(name, hooks[i]) == 0) return 1;
  return 0;
}

/* Whether one of these relocations is for a hook: a module that calls a function of another one has a relocation that
 * names it. */
static int has_hook(const ElfW(Rela) * entries, size_t bytes, const ElfW(Sym) * symbols, const char* names) {
  for (size_t i = 0; entries != NULL && i < bytes / sizeof *entries; i++)
    if (is_hook(names + symbols[ELF64_R_SYM(entries[i].r_info)].st_name)) return 1;
  return 0;
}

/* glibc has relocated the addresses in the dynamic section, except those of the vdso, which has no relocations. */
/* For dl_iterate_phdr(3): not 0 stops it. Reads the dynamic section of a loaded object (gABI,
 * "Dynamic Section"). */
static int is_instrumented(struct dl_phdr_info* object, size_t size, void* unused) {
  (void)size, (void)unused;
  const ElfW(Rela)* data = NULL, *calls = NULL;
  size_t data_bytes = 0, calls_bytes = 0;
  const ElfW(Sym)* symbols = NULL;
  const char* names = NULL;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const ElfW(Dyn)* entry = (const ElfW(Dyn)*)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; entry++) {
      switch (entry->d_tag) {
        case DT_RELA: data = (const void*)entry->d_un.d_ptr; break;
        case DT_RELASZ: data_bytes = entry->d_un.d_val; break;
        case DT_JMPREL: calls = (const void*)entry->d_un.d_ptr; break;
        case DT_PLTRELSZ: calls_bytes = entry->d_un.d_val; break;
        case DT_SYMTAB: symbols = (const void*)entry->d_un.d_ptr; break;
        case DT_STRTAB: names = (const void*)entry->d_un.d_ptr; break;
        default: break;
      }
    }
  }
  return symbols != NULL && names != NULL &&
         (has_hook(data, data_bytes, symbols, names) || has_hook(calls, calls_bytes, symbols, names));
}

/* An empty file, or a recording that no process is writing: any other file is not ours. The writer holds a lock, and
 * needs a moment after the run: wait 100 ms at most, because the program's start is delayed by it. */
static int may_be_replaced(void) {
  static const char magic[8] = {(char)0xab, 'P', 'e', 'n', 'n', 'a', '\r', '\n'}; /* docs/format.md */
  char start[sizeof magic];
  struct stat found;
  const int fd = open(TRACE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return 0;
  const int is_own = fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid();
  const ssize_t got = is_own ? read(fd, start, sizeof start) : -1;
  const int ours = got == 0 || (got == sizeof start && memcmp(start, magic, sizeof magic) == 0);
  int is_free = 0;
  for (int tries = 0; ours && !(is_free = flock(fd, LOCK_EX | LOCK_NB) == 0) && tries < 20; tries++) usleep(5000);
  close(fd);
  return is_free;
}

/* A child that sends no signal when it ends: our parent's handlers and waits do not see it. */
static pid_t fork_quietly(void) { return (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0); }

/* In the child's child: becomes the etrace that writes TRACE, and reports its socket through `fd`. It must inherit
 * nothing from the program: no signal mask, no session or terminal, no descriptor except `fd`, no environment
 * (LD_PRELOAD would make it record itself). */
static void become_recorder(const char* etrace, int fd) {
  char number[12];
  snprintf(number, sizeof number, "%d", fd);
  char* const words[] = {(char*)etrace, (char*)"--serve", number, NULL};
  char* const environment[] = {NULL};
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  setsid();
  const int nothing = open("/dev/null", O_RDWR);
  for (int i = 0; nothing >= 0 && i < 3; i++) dup2(nothing, i);
  if (fd > 3) close_range(3, (unsigned)fd - 1, 0);
  close_range((unsigned)fd + 1, ~0u, 0);
  fcntl(fd, F_SETFD, 0);
  execve(etrace, words, environment);
}

/* etrace, next to this library in an installed tree or in a build tree. */
static int find_etrace(char* path, size_t room) {
  static const char* const folders[] = {PENNA_BIN_FROM_LIB, "../bin"};
  Dl_info self;
  if (dladdr((const void*)&find_etrace, &self) == 0 || self.dli_fname == NULL) return 0;
  const char* slash = strrchr(self.dli_fname, '/');
  const int folder = slash != NULL ? (int)(slash - self.dli_fname) : 0;
  for (int i = 0; slash != NULL && i < 2; i++) {
    const int length = snprintf(path, room, "%.*s/%s/etrace", folder, self.dli_fname, folders[i]);
    if (length > 0 && (size_t)length < room && access(path, X_OK) == 0) return 1;
  }
  return 0;
}

/* What the recorder reports: where it listens, or "!" and why it does not. Empty: it sent nothing in time. */
static void hear(int fd, char* answer, size_t room) {
  size_t length = 0;
  struct pollfd ready = {fd, POLLIN, 0};
  while (length < room - 1 && poll(&ready, 1, 5000) > 0) {
    const ssize_t got = read(fd, answer + length, room - 1 - length);
    if (got <= 0) break;
    length += (size_t)got;
  }
  answer[length] = '\0';
}

/* Forks twice, so that the recorder is not a child of the program, whose wait() would otherwise see it. */
static void record(void) {
  char etrace[4096],
      answer[512] = "!cannot find etrace beside libpenna-etrace.so: install all of Penna below one prefix";
  int ends[2];
  if (!may_be_replaced() || pipe2(ends, O_CLOEXEC) != 0) return;
  if (find_etrace(etrace, sizeof etrace)) {
    const pid_t child = fork_quietly();
    if (child == 0) {
      if (fork_quietly() == 0) become_recorder(etrace, ends[1]);
      _exit(0);
    }
    close(ends[1]);
    if (child > 0) waitpid(child, NULL, __WALL);
    hear(ends[0], answer, sizeof answer);
  } else {
    close(ends[1]);
  }
  close(ends[0]);
  if (answer[0] == '/' && penna_agent_join(answer) == PENNA_JOINED) return;
  dprintf(2, "penna: TRACE: %s; the program keeps running, unrecorded\n",
          answer[0] == '!' ? answer + 1 : "no answer from etrace");
}

/* ---- Which ------------------------------------------------------------------------------------------------------- */

/* A file TRACE of this user; one that another user has left here is ignored. */
static int is_own_file(void) {
  struct stat found;
  return lstat(TRACE, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid();
}

static char began_in[4096]; /* where TRACE was looked for; empty: unknown */

/* Checks again: the program may have changed its directory, or the file may have been replaced. */
static void record_opened(void) {
  char here[sizeof began_in];
  penna_agent_when_opened(NULL);
  if (getcwd(here, sizeof here) != NULL && strcmp(here, began_in) == 0 && is_own_file()) record();
}

/* The program has opened a library: TRACE is for the first one that has hooks, if it is still the TRACE of the
 * beginning. One thread looks; threads that arrive meanwhile make it look again. */
static void look_at_opened(void) {
  static unsigned waiting; /* threads; stays above 0 once there was something to record */
  const int error = errno;
  unsigned seen = __atomic_add_fetch(&waiting, 1, __ATOMIC_ACQUIRE);
  if (seen == 1) {
    int has_come;
    do {
      seen = __atomic_load_n(&waiting, __ATOMIC_ACQUIRE);
      has_come = dl_iterate_phdr(is_instrumented, NULL);
    } while (!has_come && !__atomic_compare_exchange_n(&waiting, &seen, 0, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    if (has_come) record_opened();
  }
  errno = error;
}

/* If nothing that is loaded has hooks, a library that is opened later may have some (plugins). */
static void record_or_wait(void) {
  if (dl_iterate_phdr(is_instrumented, NULL))
    record();
  else if (getcwd(began_in, sizeof began_in) != NULL)
    penna_agent_when_opened(look_at_opened);
}

/* A TRACE of another user is ignored; so is any TRACE if the program has more rights than its caller. */
__attribute__((constructor)) static void look_for_trace(void) {
  const int error = errno;
  struct stat found;
  const int trace = getauxval(AT_SECURE) == 0 ? open(TRACE, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;
  const int is_own = trace >= 0 && fstat(trace, &found) == 0 && found.st_uid == geteuid();
  if (is_own && S_ISLNK(found.st_mode)) join(trace);
  if (trace >= 0) close(trace);
  if (is_own && S_ISREG(found.st_mode)) record_or_wait();
  errno = error;
}
