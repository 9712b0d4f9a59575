// SPDX-License-Identifier: MIT
// Follows the target into the programs that it starts: every exec gets our variables added to its environment.
//
// Why not leave them in `environ`: see environment.h. system() and popen() start their shell inside libc, so their
// command becomes: our variables, then `exec sh -c` of the same command under the same name.
// Invariant: only the caller's stack is used: this runs in vfork children and in signal handlers.
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/core/arch.h"
#include "agent/core/attachment.h"
#include "agent/core/call_filters.h"
#include "agent/core/environment.h"
#include "agent/core/lifecycle.h"
#include "agent/core/mapped_memory.h"
#include "agent/core/rendezvous.h"
#include "agent/core/sys.h"
#include "agent/core/text.h"
#include "agent/hooks/threads/limits.h"
#include "agent/modules/dynamic_symbols.h"
#include "agent/modules/real.h"
#include "agent/programs/programs.h"
#include "agent/programs/starts.h"
#include "penna/clock.h"

#define PENNA_EXPORT extern "C" __attribute__((visibility("default")))

extern "C" char** environ;

namespace penna::agent {
namespace {

bool following() {
  if (real.execve == nullptr) resolve_real_functions();
  return recorder_socket() != nullptr && agent_path()[0] != '\0';
}

// Reports what is about to be started before an exec, which does not return if it succeeds. Withdraws the report if it
// failed.
class ExecReport {
 public:
  explicit ExecReport(const ProgramToStart& program) : reports_(program.is_there && !program.is_listed) {
    if (!reports_) return;
    report_start(own_pid(), program.why, program.path, time_of_start());
    if (program.will_connect()) expect_process(1);
  }
  void failed(const ProgramToStart& program) const {
    if (!reports_) return;
    report_start(own_pid(), PENNA_START_FAILED, program.path, time_of_start());
    if (program.why == PENNA_START_SECCOMP) count_unfollowed(-1);
    if (program.will_connect()) expect_process(-1);
  }

 private:
  bool reports_;
};

// The same for a child, whose pid is known once it was started.
class SpawnReport {
 public:
  // The time from before the start: the recorder pairs it with a connection that comes later (StartedPrograms).
  explicit SpawnReport(const ProgramToStart& program, const pid_t* pid) : began_(time_of_start()), pid_(pid) {
    if (program.will_connect()) expect_process(1);
  }
  void failed(const ProgramToStart& program) const {
    if (program.will_connect()) expect_process(-1);
  }
  void worked(const ProgramToStart& program) const {
    if (program.is_listed) return;
    report_start(static_cast<uint32_t>(*pid_), program.why, program.path, began_);
  }

 private:
  uint64_t began_;
  const pid_t* pid_;
};

// A program that no dynamic linker loads: the recorder holds it at its start and brings the agent, because nothing else
// would (announce_start()). Until then its environment has our variables.
class HeldProgram {
 public:
  HeldProgram(const ProgramToStart& program, bool spawns)
      : connection_(program.may_be_held && program.why == PENNA_START_STATIC ? announce_start(recorder_socket(), spawns)
                                                                             : -1) {
    if (connection_ >= 0) expect_process(1);
  }
  void failed() const {
    if (connection_ < 0) return;
    take_back_start(connection_);
    expect_process(-1);
  }
  // A child of this process has become the program.
  void worked() const {
    if (connection_ >= 0) sys(SYS_close, connection_);
  }

 private:
  long connection_;
};

// Calls start(environment) with our variables added to `from`; it returns 0 or, if it succeeds, not at all. The new
// environment is on the stack: a successful exec never returns, and a spawn has copied it. look(&program): inspects
// what is started. report(program): reports it to the recorder.
template <typename Start, typename Look, typename Report>
int with_our_environment(const char* name, char* const* from, Start start, Look look, Report report) {
  // Libc functions that are patched call one another.
  if (!following() || (loaded_late && has_our_variables(from))) return start(from);
  ProgramToStart program;
  program.path = name != nullptr ? name : "";
  if (program_refused()) {
    program.why = PENNA_START_SECCOMP;
  } else {
    look(&program);
    look_for_agent(agent_path(), &program);
  }
  const ExecEnvironment size = exec_environment_size(from, program.runtime);
  // The child of libc's own posix_spawn, which reaches the hooks only if the agent was loaded late, has 32 KiB.
  const size_t most_pointers = loaded_late ? 1024 : 16384, most_bytes = loaded_late ? 4096 : 65536;
  if (program.takes_variables() && (size.pointers > most_pointers || size.bytes > most_bytes))
    program.why = PENNA_START_TOO_MUCH;  // better not followed than a stack overflow
  auto reported = report(program);
  const HeldProgram held(
      program, requires { reported.worked(program); });
  int error;
  if (program.takes_variables()) {
    auto** pointers = static_cast<char**>(__builtin_alloca(size.pointers * sizeof(char*)));
    auto* text = static_cast<char*>(__builtin_alloca(size.bytes));
    error = start(make_exec_environment(from, program.runtime, pointers, text));
  } else {
    error = start(from);
  }
  if (error != 0) held.failed(), reported.failed(program);
  if constexpr (requires { reported.worked(program); })
    if (error == 0) held.worked(), reported.worked(program);
  return error;
}

template <typename Start, typename Look>
int exec_with_ours(const char* name, char* const* from, Start start, Look look) {
  return with_our_environment(name, from, start, look,
                              [](const ProgramToStart& program) { return ExecReport(program); });
}

// spawn(pid, environment)
template <typename Spawn, typename Look>
int spawn_with_ours(pid_t* pid, const char* name, char* const* from, Spawn spawn, Look look) {
  pid_t child = 0;
  const int error = with_our_environment(
      name, from, [&](char* const* e) { return spawn(&child, e); }, look,
      [&](const ProgramToStart& program) { return SpawnReport(program, &child); });
  if (error == 0 && pid != nullptr) *pid = child;
  return error;
}

// Appends `text` as one quoted word of a shell command.
char* append_quoted(char* to, const char* text) {
  *to++ = '\'';
  for (; *text != '\0'; ++text) {
    if (*text == '\'')
      to = text_append(to, "'\\''");
    else
      *to++ = *text;
  }
  *to++ = '\'';
  return to;
}

constexpr char kShell[] = "/bin/sh";

// LD_PRELOAD='…' PENNA_SOCKET='…' exec /bin/sh -c 'command' sh: the shell execs another one that is followed, and $0
// stays "sh".
template <typename Start>
auto with_our_command(const char* command, Start start) {
  if (command == nullptr || !following()) return start(command);
  ProgramToStart shell;
  if (program_refused())
    shell.why = PENNA_START_SECCOMP;
  else
    look_for_agent(agent_path(), &shell);
  if (!shell.takes_variables()) {
    report_start(0, shell.why, kShell, time_of_start());
    return start(command);
  }
  const char* preloaded = "";
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (text_begins(*entry, "LD_PRELOAD=", 11)) preloaded = *entry + 11;
  // A quote becomes four characters. What the user preloads may be repeated (penna/detail/preload.h).
  size_t quoted = 4 * (text_length(command) + 2 * text_length(preloaded) + text_length(agent_path()) +
                       text_length(recorder_socket()));
  const MappedMemory memory(2 * (quoted + 128), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  if (memory.at() == nullptr) return start(command);
  auto* const line = reinterpret_cast<char*>(memory.at());
  // The first half is the command, the second the value of LD_PRELOAD before it is quoted.
  auto* const plain = reinterpret_cast<char*>(memory.at() + memory.bytes() / 2);
  *append_preload(plain, preloaded, "") = '\0';
  char* to = append_quoted(text_append(line, "LD_PRELOAD="), plain);
  to = append_quoted(text_append(to, " PENNA_SOCKET="), recorder_socket());
  to = append_quoted(text_append(to, " exec /bin/sh -c "), command);
  *text_append(to, " sh") = '\0';
  // Not withdrawn: libc does not report whether the shell was started. It is a hint for the recorder's end.
  expect_process(1);
  return start(line);
}

// Collects the arguments of execl and its kin in an array on the caller's stack. `list` stays open: execle's
// environment comes next.
#define PENNA_COLLECT_ARGUMENTS(argv, first)                                                       \
  va_list count_list, list;                                                                        \
  va_start(count_list, first);                                                                     \
  size_t argument_count = 0;                                                                       \
  for (const char* a = first; a != nullptr; a = va_arg(count_list, const char*)) ++argument_count; \
  va_end(count_list);                                                                              \
  auto** argv = static_cast<char**>(__builtin_alloca((argument_count + 1) * sizeof(char*)));       \
  argv[0] = const_cast<char*>(first);                                                              \
  va_start(list, first);                                                                           \
  for (size_t i = 1; i <= argument_count; ++i) argv[i] = va_arg(list, char*)

}  // namespace
}  // namespace penna::agent

using namespace penna::agent;

PENNA_EXPORT int execve(const char* path, char* const argv[], char* const envp[]) {
  const RequestedLimits limits;
  return exec_with_ours(
      path, envp, [=](char* const* e) { return real.execve(path, argv, e); },
      [=](ProgramToStart* program) {
        look_at_program(path, {argv, envp}, program);
      });
}

PENNA_EXPORT int execv(const char* path, char* const argv[]) { return execve(path, argv, environ); }

PENNA_EXPORT int execvpe(const char* file, char* const argv[], char* const envp[]) {
  const RequestedLimits limits;
  return exec_with_ours(
      file, envp, [=](char* const* e) { return real.execvpe(file, argv, e); },
      [=](ProgramToStart* program) {
        look_at_program_by_name(file, {argv, envp}, program);
      });
}

PENNA_EXPORT int execvp(const char* file, char* const argv[]) { return execvpe(file, argv, environ); }

PENNA_EXPORT int fexecve(int fd, char* const argv[], char* const envp[]) {
  const RequestedLimits limits;
  return exec_with_ours(
      "", envp, [=](char* const* e) { return real.fexecve(fd, argv, e); },
      [=](ProgramToStart* program) {
        look_at_program_by_descriptor(fd, {argv, envp}, program);
      });
}

PENNA_EXPORT int execl(const char* path, const char* first, ...) {
  PENNA_COLLECT_ARGUMENTS(argv, first);
  va_end(list);
  return execve(path, argv, environ);
}

PENNA_EXPORT int execlp(const char* file, const char* first, ...) {
  PENNA_COLLECT_ARGUMENTS(argv, first);
  va_end(list);
  return execvpe(file, argv, environ);
}

PENNA_EXPORT int execle(const char* path, const char* first, ...) {
  PENNA_COLLECT_ARGUMENTS(argv, first);
  auto** envp = va_arg(list, char**);
  va_end(list);
  return execve(path, argv, envp);
}

PENNA_EXPORT int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                             const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  return spawn_with_ours(
      pid, path, envp,
      [=](pid_t* p, char* const* e) { return real.posix_spawn(p, path, actions, attributes, argv, e); },
      [=](ProgramToStart* program) {
        look_at_program(path, {argv, envp}, program);
      });
}

PENNA_EXPORT int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                              const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  return spawn_with_ours(
      pid, file, envp,
      [=](pid_t* p, char* const* e) { return real.posix_spawnp(p, file, actions, attributes, argv, e); },
      [=](ProgramToStart* program) {
        look_at_program_by_name(file, {argv, envp}, program);
      });
}

#ifdef PENNA_FIRST_GLIBC
// The versions for programs that were built before glibc 2.15, which also run scripts that begin without #!
// (symbol_versions_x86_64.map).
static decltype(real.posix_spawn) old_spawn(const char* name) {
  void* found = next_definition(name, PENNA_FIRST_GLIBC);
  return found != nullptr ? reinterpret_cast<decltype(real.posix_spawn)>(found) : real.posix_spawn;
}
__asm__(".symver penna_old_posix_spawn,posix_spawn@" PENNA_FIRST_GLIBC ",remove");
PENNA_EXPORT int penna_old_posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                                       const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  return spawn_with_ours(
      pid, path, envp,
      [=](pid_t* p, char* const* e) { return old_spawn("posix_spawn")(p, path, actions, attributes, argv, e); },
      [=](ProgramToStart* program) {
        look_at_program(path, {argv, envp}, program);
      });
}
__asm__(".symver penna_old_posix_spawnp,posix_spawnp@" PENNA_FIRST_GLIBC ",remove");
PENNA_EXPORT int penna_old_posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                                        const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  return spawn_with_ours(
      pid, file, envp,
      [=](pid_t* p, char* const* e) { return old_spawn("posix_spawnp")(p, file, actions, attributes, argv, e); },
      [=](ProgramToStart* program) {
        look_at_program_by_name(file, {argv, envp}, program);
      });
}
#endif

PENNA_EXPORT int system(const char* command) {
  return with_our_command(command, [](const char* c) { return real.system(c); });
}

PENNA_EXPORT FILE* popen(const char* command, const char* mode) {
  return with_our_command(command, [=](const char* c) { return real.popen(c, mode); });
}
