/* SPDX-License-Identifier: MIT
 *
 * libpenna-etrace.so, linked to a program or preloaded: records its calls when there is a TRACE where it starts.
 *   TRACE leads to a socket: somebody waits there (etrace PROGRAM), and sees the calls as they come.
 *   TRACE is a file, empty or a recording: it becomes the recording of this run, for etrace PROGRAM to show later.
 *   else: nothing happens.
 *
 * The hooks are those of libpenna-agent.so. This library is its filter (DT_AUXILIARY): the dynamic linker puts the agent in
 * front of it wherever symbols are looked up, and so in front of libc, whichever way this library came in.
 * Invariant: nothing here changes what the program does; no file is made, and none replaced that is not ours.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "penna/detail/join.h"
#include "penna/recorder.h"

#define TRACE "TRACE"
#define EXPORT __attribute__((visibility("default")))

/* For the static linker, which else would leave a library out that nothing seems to need. At run time the agent's come first. */
EXPORT void __cyg_profile_func_enter(void* function, void* caller);
EXPORT void __cyg_profile_func_exit(void* function, void* caller);
void __cyg_profile_func_enter(void* function, void* caller) { (void)function, (void)caller; }
void __cyg_profile_func_exit(void* function, void* caller) { (void)function, (void)caller; }

/* ---- Live ---------------------------------------------------------------------------------------------------------- */

static void join(void) {
  char path[108]; /* as long as a socket's name may be */
  const ssize_t length = readlink(TRACE, path, sizeof path - 1);
  if (length <= 0 || path[0] != '/' || (size_t)length >= sizeof path - 1) return;
  path[length] = '\0';
  (void)penna_agent_join(path); /* refused: nobody waits there any more */
}

/* ---- Into the file ------------------------------------------------------------------------------------------------- */

static int is_hook(const char* name) {
  static const char* const hooks[] = {"__cyg_profile_func_enter", "mcount", "_mcount", "__fentry__"};
  for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++)
    if (strcmp(name, hooks[i]) == 0) return 1;
  return 0;
}

/* Is one of these relocations about a hook? */
static int has_hook(const ElfW(Rela) * entries, size_t bytes, const ElfW(Sym) * symbols, const char* names) {
  for (size_t i = 0; entries != NULL && i < bytes / sizeof *entries; i++)
    if (is_hook(names + symbols[ELF64_R_SYM(entries[i].r_info)].st_name)) return 1;
  return 0;
}

/* glibc has relocated the addresses in the dynamic section, but for those of the vdso, which has no relocations. */
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

/* An empty file, or a recording that nobody is writing: whatever else it is, is not ours. */
static int may_be_replaced(void) {
  static const char magic[8] = {(char)0xab, 'P', 'e', 'n', 'n', 'a', '\r', '\n'}; /* docs/format.md */
  char start[sizeof magic];
  const int fd = open(TRACE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return 0;
  const ssize_t got = read(fd, start, sizeof start);
  const int ours = got == 0 || (got == sizeof start && memcmp(start, magic, sizeof magic) == 0);
  const int is_free = flock(fd, LOCK_EX | LOCK_NB) == 0;
  close(fd);
  return ours && is_free;
}

static void record(void) {
  if (!dl_iterate_phdr(is_instrumented, NULL) || !may_be_replaced()) return;
  char error[256] = "";
  void* library = dlopen("libpenna.so", RTLD_NOW | RTLD_LOCAL);
  int (*start)(const penna_recorder_options*, char*, size_t) = NULL;
  if (library != NULL) *(void**)&start = dlsym(library, "penna_recorder_start");
  const penna_recorder_options options = {.file = TRACE, .kinds = "calls", .block = 1};
  if (start == NULL)
    snprintf(error, sizeof error, "libpenna.so does not lie beside libpenna-etrace.so");
  else if (start(&options, error, sizeof error) == 0)
    return;
  dprintf(2, "penna: %s: %s; the program goes on unrecorded\n", TRACE, error);
}

/* ---- Which ---------------------------------------------------------------------------------------------------------- */

/* What another user has left here gets nothing; nor does the caller of a program that has more rights than he. */
__attribute__((constructor)) static void look_for_trace(void) {
  const int error = errno;
  struct stat found;
  if (getauxval(AT_SECURE) == 0 && lstat(TRACE, &found) == 0 && found.st_uid == geteuid()) {
    if (S_ISLNK(found.st_mode)) join();
    if (S_ISREG(found.st_mode)) record();
  }
  errno = error;
}
