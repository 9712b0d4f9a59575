// SPDX-License-Identifier: MIT
// See programs.h.
#include "agent/programs/programs.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "agent/core/arch.h"
#include "agent/core/rendezvous.h"
#include "agent/core/sys.h"
#include "agent/core/text.h"
#include "penna/detail/preload.h"

extern "C" char** environ;

namespace penna::agent {
namespace {

constexpr uint32_t kHead = 1024;  // usually contains the program headers and the dynamic linker's name

long read_at(long fd, void* to, uint64_t bytes, uint64_t offset) {
  const long got =
      sys(SYS_pread64, fd, reinterpret_cast<long>(to), static_cast<long>(bytes), static_cast<long>(offset));
  return sys_failed(got) ? 0 : got;
}

// The beginning of a file, zero-padded.
struct Head {
  alignas(8) char bytes[kHead + 1] = {};
  explicit Head(long fd) { read_at(fd, bytes, kHead, 0); }
  bool begins(const char* with, uint32_t count) const { return __builtin_memcmp(bytes, with, count) == 0; }
  Elf64_Ehdr elf() const {
    Elf64_Ehdr header;
    __builtin_memcpy(&header, bytes, sizeof header);
    return header;
  }
  // Calls see(part) with each program header, until it returns false.
  template <typename See>
  void each_part(See see) const {
    const Elf64_Ehdr header = elf();
    // The file may be anything, and change while it is read: headers beyond what was read count as missing.
    for (uint32_t i = 0; i < header.e_phnum && i < kHead / sizeof(Elf64_Phdr); ++i) {
      Elf64_Phdr part;
      const uint64_t at = header.e_phoff + i * sizeof part;
      if (at > kHead - sizeof part) return;
      __builtin_memcpy(&part, bytes + at, sizeof part);
      if (!see(part)) return;
    }
  }
};

bool contains(const char* text, const char* part) {
  const size_t length = text_length(part);
  for (; *text != '\0'; ++text)
    if (text_begins(text, part, length)) return true;
  return false;
}

const char* variable(char* const* environment, const char* name_and_sign) {
  const size_t length = text_length(name_and_sign);
  const char* found = nullptr;
  for (; environment != nullptr && *environment != nullptr; ++environment)
    if (text_begins(*environment, name_and_sign, length)) found = *environment + length;
  return found;
}

// ---- How it is linked -----------------------------------------------------------------------------------------------

// The parts of the dynamic section that are needed, and how its addresses map to file offsets.
class Dynamic {
 public:
  Dynamic(long fd, const Head& head) : fd_(fd) {
    head.each_part([&](const Elf64_Phdr& part) {
      if (part.p_type == PT_LOAD && load_count_ < kMostLoads) loads_[load_count_++] = part;
      if (part.p_type == PT_DYNAMIC) at_ = part.p_offset, bytes_ = part.p_filesz;
      return true;
    });
  }
  bool is_there() const { return bytes_ != 0; }

  // Calls see(tag, value) with each entry, until it returns false.
  template <typename See>
  void each_entry(See see) const {
    constexpr uint64_t kMostEntries = 1024, kAtOnce = 32;
    Elf64_Dyn entries[kAtOnce];
    for (uint64_t i = 0; i < kMostEntries && i * sizeof(Elf64_Dyn) < bytes_; i += kAtOnce) {
      const long got = read_at(fd_, entries, sizeof entries, at_ + i * sizeof(Elf64_Dyn));
      for (uint64_t k = 0; k < kAtOnce && (k + 1) * sizeof(Elf64_Dyn) <= static_cast<uint64_t>(got); ++k)
        if (entries[k].d_tag == DT_NULL || !see(entries[k].d_tag, entries[k].d_un.d_val)) return;
      if (got != sizeof entries) return;
    }
  }
  // The file offset of an address; 0: it is not in the file.
  uint64_t in_file(uint64_t address) const {
    for (uint32_t i = 0; i < load_count_; ++i)
      // Unsigned: an address before the segment is a huge distance.
      if (address - loads_[i].p_vaddr < loads_[i].p_filesz) return loads_[i].p_offset + (address - loads_[i].p_vaddr);
    return 0;
  }

 private:
  static constexpr uint32_t kMostLoads = 8;
  long fd_;
  Elf64_Phdr loads_[kMostLoads];
  uint32_t load_count_ = 0;
  uint64_t at_ = 0, bytes_ = 0;
};

// A library that must be loaded before all others, by the name in the program's DT_NEEDED: the dynamic linker finds it
// by that name, whichever module requests it.
void find_runtime(long fd, const Head& head, ProgramToStart* program) {
  const Dynamic dynamic(fd, head);
  // Two walks, because DT_NEEDED usually precedes DT_STRTAB.
  uint64_t names = 0;
  dynamic.each_entry([&](int64_t tag, uint64_t value) {
    if (tag == DT_STRTAB) names = dynamic.in_file(value);
    return names == 0;
  });
  if (names == 0) return;
  dynamic.each_entry([&](int64_t tag, uint64_t value) {
    if (tag != DT_NEEDED) return true;
    char name[sizeof program->runtime] = {};
    read_at(fd, name, sizeof name - 1, names + value);
    const size_t length = text_length(name);
    if (penna_first_runtime(name) != length || length == 0) return true;
    __builtin_memcpy(program->runtime, name, length + 1);
    return false;
  });
}

// glibc's dynamic linkers are named ld-linux-x86-64.so.2, in any directory; one that is run directly counts as a
// program like those that it loads.
penna_start_why why_not_linked(long fd, const Head& head, const char* path, const ExecWords& words) {
  const char* loader = nullptr;
  head.each_part([&](const Elf64_Phdr& part) {
    if (part.p_type != PT_INTERP) return true;
    loader = part.p_offset < kHead ? head.bytes + part.p_offset : "";
    return false;
  });
  if (loader == nullptr) {
    if (Dynamic(fd, head).is_there() && text_begins(file_name(path), "ld-linux", 8)) return PENNA_START_EXPECTED;
    return variable(words.environment, "VALGRIND_LAUNCHER=") != nullptr ? PENNA_START_VALGRIND : PENNA_START_STATIC;
  }
  if (contains(loader, "/ld-musl-")) return PENNA_START_MUSL;
  return *loader == '\0' || contains(loader, "/ld-linux") ? PENNA_START_EXPECTED : PENNA_START_LOADER;
}

// As ldd(1) has it done, see ld.so(8).
bool only_lists(const char* path, const ExecWords& words) {
  constexpr const char* kLists[] = {"--list", "--verify", "--version", "--help"};
  const char* const traces = variable(words.environment, "LD_TRACE_LOADED_OBJECTS=");
  if (traces != nullptr && *traces != '\0') return true;
  if (!text_begins(file_name(path), "ld-linux", 8) || words.arguments == nullptr || words.arguments[0] == nullptr)
    return false;
  for (char* const* word = words.arguments + 1; *word != nullptr && text_begins(*word, "--", 2); ++word)
    for (const char* option : kLists)
      if (text_begins(*word, option, text_length(option))) return true;
  return false;
}

// ---- Privileges it starts with --------------------------------------------------------------------------------------

// What the kernel reports to the dynamic linker in AT_SECURE.
bool begins_privileged(long fd) {
  struct stat file {};
  if (sys_failed(sys(SYS_fstat, fd, reinterpret_cast<long>(&file)))) return false;
  const auto id = [](long number) { return static_cast<uint32_t>(sys(number)); };
  // Without execution by the group, the bit means mandatory locking (stat(2)).
  constexpr mode_t kSetGid = S_ISGID | S_IXGRP;
  bool set_uid = (file.st_mode & S_ISUID) != 0, set_gid = (file.st_mode & kSetGid) == kSetGid;
  bool capable = id(SYS_getuid) != 0 && sys(SYS_fgetxattr, fd, reinterpret_cast<long>("security.capability"), 0, 0) > 0;
  if (set_uid || set_gid || capable) {
    struct statfs system {};
    const bool heeded =
        sys(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0) == 0 &&
        (sys_failed(sys(SYS_fstatfs, fd, reinterpret_cast<long>(&system))) || (system.f_flags & ST_NOSUID) == 0);
    set_uid = set_uid && heeded, set_gid = set_gid && heeded, capable = capable && heeded;
  }
  return capable || (set_uid ? file.st_uid : id(SYS_geteuid)) != id(SYS_getuid) ||
         (set_gid ? file.st_gid : id(SYS_getegid)) != id(SYS_getgid);
}

// ---- Where it is ----------------------------------------------------------------------------------------------------

// The name may be that of a FIFO or of a terminal: neither may block this process, or become its controlling terminal.
long open_file(const char* path) {
  return sys(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

void look_at_opened(long fd, const char* path, const ExecWords& words, bool follow_script, ProgramToStart* program);

void look_at_file(const char* path, const ExecWords& words, bool follow_script, ProgramToStart* program) {
  const long fd = open_file(path);
  if (!sys_failed(fd)) {
    look_at_opened(fd, path, words, follow_script, program);
    sys(SYS_close, fd);
  } else if (fd != -EACCES) {  // an executable program need not be readable
    program->is_there = false;
  }
}

// "#! /path argument"
void look_at_opened(long fd, const char* path, const ExecWords& words, bool follow_script, ProgramToStart* program) {
  Head head(fd);
  if (head.begins(ELFMAG, SELFMAG)) {
    if (head.bytes[EI_CLASS] != ELFCLASS64)
      program->why = PENNA_START_BITS;
    else if (head.elf().e_machine != kMachine)
      program->why = PENNA_START_MACHINE;
    else
      program->why = why_not_linked(fd, head, path, words);
    // A traced exec gives no privileges.
    program->may_be_held = program->why == PENNA_START_STATIC && !begins_privileged(fd);
    if (program->why != PENNA_START_EXPECTED) return;
    if (begins_privileged(fd)) program->why = PENNA_START_PRIVILEGED;
    program->is_listed = only_lists(path, words);
    find_runtime(fd, head, program);
    return;
  }
  if (!follow_script || !head.begins("#!", 2)) return;
  char* interpreter = head.bytes + 2;
  // As the kernel reads it: blanks, the name up to the next blank, the rest is an argument.
  while (*interpreter == ' ' || *interpreter == '\t') ++interpreter;
  char* end = interpreter;
  while (*end != '\0' && *end != ' ' && *end != '\t' && *end != '\n') ++end;
  *end = '\0';
  look_at_file(interpreter, words, false, program);
}

bool has_slash(const char* name) {
  while (*name != '\0' && *name != '/') ++name;
  return *name == '/';
}

}  // namespace

void look_at_program(const char* path, const ExecWords& words, ProgramToStart* program) {
  if (path == nullptr) return;
  program->path = path;
  look_at_file(path, words, true, program);
}

void look_at_program_by_descriptor(int fd, const ExecWords& words, ProgramToStart* program) {
  char* const to = text_append(program->path_found, "/proc/thread-self/fd/");
  char digits[12];
  int count = 0;
  for (uint32_t rest = fd < 0 ? 0 : static_cast<uint32_t>(fd); rest != 0 || count == 0; rest /= 10)
    digits[count++] = static_cast<char>('0' + rest % 10);
  for (int i = 0; i < count; ++i) to[i] = digits[count - 1 - i];
  const long length = sys(SYS_readlink, reinterpret_cast<long>(program->path_found),
                          reinterpret_cast<long>(program->path_found), sizeof program->path_found - 1);
  if (!sys_failed(length)) program->path_found[length] = '\0';
  program->path = program->path_found;
  look_at_opened(fd, program->path, words, true, program);
}

void look_at_program_by_name(const char* name, const ExecWords& words, ProgramToStart* program) {
  if (name == nullptr || has_slash(name)) return look_at_program(name, words, program);
  // The caller's PATH, as execvp searches it, even where the program gets another one. The default is that of
  // glibc.
  const char* folders = variable(environ, "PATH=");
  if (folders == nullptr) folders = "/bin:/usr/bin";
  const size_t name_bytes = text_length(name);
  for (const char* folder = folders;; ++folder) {
    const char* end = folder;
    while (*end != '\0' && *end != ':') ++end;
    const auto bytes = static_cast<size_t>(end - folder);
    char* const path = program->path_found;
    if (bytes + name_bytes + 2 <= sizeof program->path_found) {
      __builtin_memcpy(path, folder, bytes);
      char* to = path + bytes;
      // An empty folder is the current one.
      if (bytes != 0) *to++ = '/';
      *text_append(to, name) = '\0';
      if (!sys_failed(sys(SYS_access, reinterpret_cast<long>(path), X_OK)))
        return look_at_program(path, words, program);
    }
    if (*end == '\0') break;
    folder = end;
  }
  program->is_there = false;
}

// Checked as the new program's dynamic linker will: now, and without the capabilities that a process may keep after it
// gave up root but that its program does not get, as access(2) checks.
void look_for_agent(const char* agent, ProgramToStart* program) {
  if (!program->takes_variables()) return;
  const long error = sys(SYS_access, reinterpret_cast<long>(agent), R_OK);
  if (sys_failed(error)) {
    program->why = error == -EACCES ? PENNA_START_FORBIDDEN : PENNA_START_NO_AGENT;
    return;
  }
  if (program->why == PENNA_START_EXPECTED && !room_for_channel()) program->why = PENNA_START_NO_ROOM;
}

}  // namespace penna::agent
