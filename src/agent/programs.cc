// SPDX-License-Identifier: MIT
// See programs.h.
#include "agent/programs.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "agent/sys.h"
#include "agent/text.h"

extern "C" char** environ;

namespace penna::agent {
namespace {

constexpr uint32_t kHead = 1024;  // has the program headers and, of what linkers write, the name of the dynamic linker
constexpr uint32_t kMaxName = 1024;

// The beginning of a file, and zeros behind it.
struct Head {
  alignas(8) char bytes[kHead + 1] = {};
  explicit Head(long fd) {
    const long got = sys(SYS_pread64, fd, reinterpret_cast<long>(bytes), kHead, 0);
    if (sys_failed(got)) bytes[0] = '\0';
  }
  bool begins(const char* with, uint32_t count) const { return __builtin_memcmp(bytes, with, count) == 0; }
};

// glibc's dynamic linkers are ld-linux-x86-64.so.2, wherever they lie.
bool is_of_other_libc(const Head& head) {
  Elf64_Ehdr elf;
  __builtin_memcpy(&elf, head.bytes, sizeof elf);
  for (uint32_t i = 0; i < elf.e_phnum && i < kHead / sizeof(Elf64_Phdr); ++i) {
    Elf64_Phdr part;
    const uint64_t at = elf.e_phoff + i * sizeof part;
    if (at > kHead - sizeof part) return false;
    __builtin_memcpy(&part, head.bytes + at, sizeof part);
    if (part.p_type != PT_INTERP) continue;
    if (part.p_offset >= kHead) return false;
    for (const char* name = head.bytes + part.p_offset; *name != '\0'; ++name)
      if (text_begins(name, "/ld-musl-", 9)) return true;
    return false;
  }
  return false;
}

bool fits(const Head& head) {
  if (!head.begins(ELFMAG, SELFMAG)) return true;
  uint16_t machine;
  __builtin_memcpy(&machine, head.bytes + offsetof(Elf64_Ehdr, e_machine), sizeof machine);
  return head.bytes[EI_CLASS] == ELFCLASS64 && machine == EM_X86_64 && !is_of_other_libc(head);
}

long open_file(const char* path) {
  return sys(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

bool opened_fits(long fd, bool follow_script);

bool file_fits(const char* path, bool follow_script) {
  const long fd = open_file(path);
  if (sys_failed(fd)) return true;
  const bool answer = opened_fits(fd, follow_script);
  sys(SYS_close, fd);
  return answer;
}

// "#! /path argument"
bool opened_fits(long fd, bool follow_script) {
  Head head(fd);
  if (!head.begins("#!", 2)) return fits(head);
  if (!follow_script) return true;
  char* path = head.bytes + 2;
  while (*path == ' ' || *path == '\t') ++path;
  char* end = path;
  while (*end != '\0' && *end != ' ' && *end != '\t' && *end != '\n') ++end;
  *end = '\0';
  return file_fits(path, false);
}

bool has_slash(const char* name) {
  while (*name != '\0' && *name != '/') ++name;
  return *name == '/';
}

}  // namespace

bool takes_agent(const char* path) { return path == nullptr || file_fits(path, true); }

bool takes_agent_by_descriptor(int fd) { return opened_fits(fd, true); }

bool takes_agent_by_name(const char* name) {
  if (name == nullptr || has_slash(name)) return takes_agent(name);
  const char* folders = "/bin:/usr/bin";
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (text_begins(*entry, "PATH=", 5)) folders = *entry + 5;
  const size_t name_bytes = text_length(name);
  for (const char* folder = folders;; ++folder) {
    const char* end = folder;
    while (*end != '\0' && *end != ':') ++end;
    const auto bytes = static_cast<size_t>(end - folder);
    char path[kMaxName];
    if (bytes + name_bytes + 2 <= sizeof path) {
      __builtin_memcpy(path, folder, bytes);
      char* to = path + bytes;
      if (bytes != 0) *to++ = '/';
      *text_append(to, name) = '\0';
      if (!sys_failed(sys(SYS_access, reinterpret_cast<long>(path), X_OK))) return takes_agent(path);
    }
    if (*end == '\0') return true;
    folder = end;
  }
}

}  // namespace penna::agent
