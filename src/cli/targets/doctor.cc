// SPDX-License-Identifier: MIT
// See doctor.h. References: proc(5); sysctl documentation of the kernel (vm.memfd_noexec, Yama).
#include "cli/targets/doctor.h"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/fd.h"
#include "base/file.h"
#include "base/in_proc.h"
#include "base/installed_library.h"
#include "base/proc_status.h"
#include "breakpoint/uprobe_ring.h"
#include "collect/socket_directory.h"
#include "reach/inject/call_filters.h"
#include "reach/process/stop_thread.h"
#include "reach/start/standalone_program.h"
#include "report/units.h"
#include "session/attach_refusal.h"
#include "session/record_notes.h"
#include "symbols/elf/elf_facts.h"

namespace penna {
namespace {

std::string first_line(const std::string& path) {
  const auto text = read_file(path, 4096);
  return text ? text->substr(0, text->find('\n')) : std::string();
}

// Of the first processor, separated by blanks.
std::string cpu_flags() {
  const auto text = read_file("/proc/cpuinfo", 1 << 20);
  const size_t at = text ? text->find("\nflags") : std::string::npos;
  return at == std::string::npos ? std::string() : text->substr(at + 1, text->find('\n', at + 1) - at - 1);
}

// By number, as in linux/capability.h: CapEff is a mask in hexadecimal.
bool has_capability(int number) {
  return (std::strtoull(read_status_value("/proc/self", "CapEff").c_str(), nullptr, 16) >> number & 1) != 0;
}
constexpr int kSysPtrace = 19;  // CAP_SYS_PTRACE

DoctorFinding agent_finding() {
  const auto agent = installed_library("libpenna-agent.so");
  if (agent) return {"agent", Diagnosis::kOk, *agent, ""};
  return {"agent", Diagnosis::kNo, agent.error().text,
          "install Penna as a whole, or run penna from its build directory"};
}

// Tried, not looked up: only creating the directory shows whether its place is writable and the path short enough for
// a socket. The destructor removes it.
DoctorFinding sockets_finding() {
  SocketDirectory directory;
  const auto path = directory.create();
  if (path) return {"sockets", Diagnosis::kOk, "a directory for the recorder's socket can be made", ""};
  return {"sockets", Diagnosis::kNo, path.error().text,
          "make /tmp writable, or set XDG_RUNTIME_DIR to a directory of yours"};
}

// Tried like penna record -p does it: the agent is mapped from a memory file, because the process may see another file
// system than we do.
DoctorFinding memfd_finding() {
  const Fd file(static_cast<int>(::syscall(SYS_memfd_create, "penna-doctor", 1u /* MFD_CLOEXEC */)));
  const bool sized = file && ::ftruncate(file.get(), 4096) == 0;
  void* const code = sized ? ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0) : MAP_FAILED;
  const int cause = errno;
  if (code != MAP_FAILED) ::munmap(code, 4096);
  if (code != MAP_FAILED) return {"memfd", Diagnosis::kOk, "code can be mapped from memory files (memfd)", ""};
  return {"memfd", Diagnosis::kLimited,
          fmt::format("code cannot be mapped from memory files ({}): penna record -p will fail", errno_text(cause)),
          "allow it: sysctl vm.memfd_noexec=0, or in the rules of SELinux"};
}

// MEMBARRIER_CMD_QUERY returns a mask of the kernel's commands; 1 << 5 is MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE
// (linux/membarrier.h), needed for patching running code.
DoctorFinding barrier_finding() {
  constexpr int kQuery = 0, kSyncCore = 1 << 5;
  const long offered = ::syscall(SYS_membarrier, kQuery, 0, 0);
  if (offered > 0 && (offered & kSyncCore) != 0)
    return {"membarrier", Diagnosis::kOk, "points can be switched while a program runs", ""};
  return {"membarrier", Diagnosis::kLimited, "points cannot be switched in a program that runs (penna ctl)",
          "use Linux 4.16 or later, and a container that allows membarrier"};
}

// SECCOMP_GET_FILTER of ptrace(2) needs CAP_SYS_ADMIN, and that we have no filter ourselves.
DoctorFinding filter_finding() {
  const bool filtered = std::atoi(read_status_value("/proc/self", "Seccomp").c_str()) != 0;
  if (may_read_call_filters()) return {"seccomp", Diagnosis::kOk, "seccomp filters of processes can be read", ""};
  return {"seccomp", Diagnosis::kLimited,
          filtered ? "penna itself has a seccomp filter: it cannot attach to processes that have one"
                   : "without CAP_SYS_ADMIN, processes with a seccomp filter cannot be attached to",
          filtered ? "run penna outside of the container" : "run penna as root for those"};
}

// There is no reliable sign. Docker and podman leave these files, and systemd-nspawn the variable.
DoctorFinding container_finding() {
  const bool inside = ::access("/.dockerenv", F_OK) == 0 || ::access("/run/.containerenv", F_OK) == 0 ||
                      ::getenv("container") != nullptr;
  if (!inside) return {"container", Diagnosis::kOk, "none is seen", ""};
  return {"container", Diagnosis::kLimited, "penna runs in one, and sees the processes of that container only",
          "run it outside as root to attach to processes of any container"};
}

DoctorFinding descriptors_finding() {
  constexpr rlim_t kFew = 1024;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max >= kFew)
    return {"descriptors", Diagnosis::kOk, "each recorded process takes one; there are enough", ""};
  return {"descriptors", Diagnosis::kLimited,
          fmt::format("no more than about {} processes can be recorded at a time", limit.rlim_max),
          "raise the hard limit: ulimit -Hn"};
}

DoctorFinding debuginfod_finding() {
  const char* const urls = ::getenv("DEBUGINFOD_URLS");
  if (urls != nullptr && *urls != '\0')
    return {"debuginfod", Diagnosis::kOk, fmt::format("symbols come from {}", urls), ""};
  return {"debuginfod", Diagnosis::kLimited, "no server is asked for debug symbols: stripped libraries have few names",
          "set DEBUGINFOD_URLS, or install debug packages"};
}

std::string here() {
  char path[4096];
  return ::getcwd(path, sizeof path) != nullptr ? path : ".";
}

// f_bavail, not f_bfree: some blocks are reserved for root.
uint64_t free_bytes_of(const std::string& directory) {
  struct statvfs system {};
  return ::statvfs(directory.c_str(), &system) == 0 ? uint64_t{system.f_bavail} * system.f_frsize : 0;
}

// How the agent gets there.
DoctorFinding linking_finding(const ElfFacts& facts) {
  if (facts.is_static) {
    const std::string why_not = why_no_standalone_agent(facts.elf_path());
    if (why_not.empty()) return {"linking", Diagnosis::kOk, "statically linked: the agent comes alone", ""};
    return {"linking", Diagnosis::kLimited,
            fmt::format("statically linked, and {}: recorded by breakpoints, at about 10 us an event", why_not),
            "link it dynamically, so that the agent can be loaded"};
  }
  if (is_of_musl(facts))
    return {"linking", Diagnosis::kLimited, "uses musl: recorded by breakpoints, at about 10 us an event",
            "build it against glibc, so that the agent can be loaded"};
  return {"linking", Diagnosis::kOk, "dynamically linked", ""};
}

// Breakpoints are set by symbols, and a static program exports none.
bool has_no_names(const ElfFacts& facts) { return facts.is_static && !facts.has_symtab; }
constexpr const char* kKeepSymbols = "do not strip it";

DoctorFinding calls_finding(const ElfFacts& facts) {
  if (has_no_names(facts))
    return {"calls", Diagnosis::kNo, "its functions have no names, by which they are found", kKeepSymbols};
  if (facts.call_options.empty())
    return {"calls", Diagnosis::kLimited, "its functions were not prepared for being traced",
            "penna record --all-functions, or -F NAME; or compile it with -fpatchable-function-entry=5"};
  return {"calls", Diagnosis::kOk, fmt::format("built with {}", fmt::join(facts.call_options, " and ")), ""};
}

DoctorFinding allocations_finding(const ElfFacts& facts) {
  if (has_no_names(facts)) return {"allocations", Diagnosis::kNo, "malloc is not found without symbols", kKeepSymbols};
  return {"allocations", Diagnosis::kOk, facts.defines_malloc ? "its own malloc is entered" : "of libc", ""};
}

}  // namespace

// Three things must hold: a constant rate (constant_tsc), even in deep sleep (nonstop_tsc), and synchronization across
// all processors, which the kernel has checked if it uses the TSC itself.
DoctorFinding clock_finding(const std::string& source, const std::string& cpu_flags) {
  const std::string flags = " " + cpu_flags + " ";
  const auto has = [&](const char* flag) { return flags.find(fmt::format(" {} ", flag)) != std::string::npos; };
  if (has("constant_tsc") && has("nonstop_tsc") && source == "tsc")
    return {"clock", Diagnosis::kOk, "the processor's time stamp counter is invariant, and the kernel trusts it", ""};
  return {"clock", Diagnosis::kLimited,
          fmt::format("the kernel's clock is '{}': times of different processors may be out of order",
                      source.empty() ? "unknown" : source),
          "on a virtual machine, let the host offer an invariant TSC"};
}

// Capabilities override Yama, except for scope 3, which lasts until the next boot.
DoctorFinding tracing_finding(int ptrace_scope, bool may_trace_all) {
  if (ptrace_scope == 3)
    return {"ptrace", Diagnosis::kLimited, "nothing may be attached to: kernel.yama.ptrace_scope is 3",
            "start programs with penna record; the setting holds until the next boot"};
  if (may_trace_all) return {"ptrace", Diagnosis::kOk, "all processes can be attached to (CAP_SYS_PTRACE)", ""};
  if (ptrace_scope == 0) return {"ptrace", Diagnosis::kOk, "your own processes can be attached to", ""};
  return {"ptrace", Diagnosis::kLimited,
          fmt::format("processes cannot be attached to: kernel.yama.ptrace_scope is {}", ptrace_scope),
          ptrace_scope == 1 ? "run penna as root, or: sudo sysctl kernel.yama.ptrace_scope=0; a program can allow it "
                              "with penna_allow_attach()"
                            : "run penna as root"};
}

DoctorFinding uprobes_finding(const std::string& refusal) {
  if (refusal.empty())
    return {"uprobes", Diagnosis::kOk, "available: processes that a debugger traces can be recorded, too", ""};
  auto [objection, remedy] = split_remedy(refusal);
  return {"uprobes", Diagnosis::kLimited, std::move(objection), std::move(remedy)};
}

DoctorFinding disk_finding(const std::string& directory, uint64_t free_bytes, bool writable) {
  constexpr uint64_t kLittle = uint64_t{1} << 30;
  const std::string room = fmt::format("{} free in {}", bytes_text(static_cast<int64_t>(free_bytes)), directory);
  if (!writable)
    return {"disk", Diagnosis::kLimited, fmt::format("{} cannot be written", directory),
            "name a file elsewhere with -o"};
  if (free_bytes < kLittle)
    return {"disk", Diagnosis::kLimited, room,
            "record fewer kinds (-k), or elsewhere (-o): events take 8 to 20 bytes each"};
  return {"disk", Diagnosis::kOk, room, ""};
}

// Mappings count against RLIMIT_AS whether used or not, including event buffers and stacks.
DoctorFinding address_space_finding(uint64_t limit) {
  constexpr uint64_t kEnough = uint64_t{4} << 30;
  if (limit >= kEnough) return {"memory", Diagnosis::kOk, "address space is not limited", ""};
  return {"memory", Diagnosis::kLimited,
          fmt::format("address space is limited to {}: event buffers and stacks get a part of it",
                      bytes_text(static_cast<int64_t>(limit))),
          "raise it with ulimit -v, or give penna record a smaller --pool"};
}

// General requirements first, those of only some targets last.
DoctorFindings examine_system() {
  rlimit space{};
  ::getrlimit(RLIMIT_AS, &space);
  const std::string scope = first_line("/proc/sys/kernel/yama/ptrace_scope"), directory = here();
  DoctorFindings findings;
  findings.push_back(agent_finding());
  findings.push_back(sockets_finding());
  findings.push_back(disk_finding(directory, free_bytes_of(directory), ::access(directory.c_str(), W_OK) == 0));
  findings.push_back(
      clock_finding(first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"), cpu_flags()));
  findings.push_back(address_space_finding(space.rlim_cur));
  findings.push_back(descriptors_finding());
  findings.push_back(tracing_finding(scope.empty() ? 0 : std::atoi(scope.c_str()), has_capability(kSysPtrace)));
  findings.push_back(uprobes_finding(why_no_uprobes()));
  findings.push_back(filter_finding());
  findings.push_back(memfd_finding());
  findings.push_back(barrier_finding());
  findings.push_back(container_finding());
  findings.push_back(debuginfod_finding());
  return findings;
}

Result<DoctorFindings> examine_process(pid_t pid) {
  const ProcessFacts facts = PENNA_TRY(read_process_facts(pid));
  DoctorFindings findings;
  const bool by_breakpoints = facts.is_static ? !facts.why_no_standalone_agent.empty() : facts.is_musl;
  const std::string refusal = why_not_attached(pid, by_breakpoints);
  const auto [but, remedy] = split_remedy(why_left_to_uprobes(pid, by_breakpoints));
  if (refusal.empty())
    findings.push_back({"attach", Diagnosis::kOk, fmt::format("penna record -p {} can attach", pid), ""});
  else if (!but.empty() && why_no_uprobes().empty())
    findings.push_back({"attach", Diagnosis::kLimited, but + ": recorded by uprobes", remedy});
  else
    findings.push_back({"attach", Diagnosis::kNo, refusal, ""});
  // For a process that cannot be examined, the refusal says everything.
  if (facts.leader != pid || !facts.permitted || facts.bits == 0) return findings;
  findings.push_back({"threads", Diagnosis::kOk, fmt::format("{}", threads_of(pid).size()), ""});
  if (facts.filters_calls)
    findings.push_back({"seccomp", facts.may_read_filters ? Diagnosis::kOk : Diagnosis::kNo,
                        "it filters its system calls; penna record -p reads the filters first, and attaches if they "
                        "allow what it needs",
                        facts.may_read_filters ? "" : "run penna as root, outside of containers"});
  const auto program = examine_program(in_proc(pid, "exe"));
  if (program) findings.insert(findings.end(), program->begin(), program->end());
  return findings;
}

// What can be recorded of the program, from its file only, and how it would have to be built for the rest.
Result<DoctorFindings> examine_program(const std::string& path) {
  const ElfFacts facts = PENNA_TRY(read_elf_facts(path));
  DoctorFindings findings;
  if (!facts.is_elf) return Error{fmt::format("{} is neither a program nor a script", path)};
  const bool native = facts.bits == 64 && !facts.big_endian && facts.machine == EM_X86_64;
  findings.push_back({"machine", native ? Diagnosis::kOk : Diagnosis::kNo,
                      fmt::format("{} bits, {}", facts.bits, facts.machine_name),
                      native ? "" : "build it for 64-bit x86-64: the agent runs there only"});
  findings.push_back(linking_finding(facts));
  // The dynamic linker then preloads nothing (ld.so(8), secure-execution mode).
  if (facts.setuid)
    findings.push_back({"rights", Diagnosis::kLimited,
                        "setuid, setgid or with capabilities: recorded only when root runs it", "record it as root"});
  findings.push_back(calls_finding(facts));
  findings.push_back(allocations_finding(facts));
  const auto file = ElfFile::open(facts.elf_path());
  const bool has_rules = file && file->section(".eh_frame") != nullptr;
  findings.push_back(
      {"stacks", has_rules ? Diagnosis::kOk : Diagnosis::kLimited,
       has_rules ? "unwinding rules (.eh_frame) are there" : "no unwinding rules (.eh_frame): stacks end there",
       has_rules ? "" : "compile it with -fasynchronous-unwind-tables"});
  if (facts.has_dwarf)
    findings.push_back({"symbols", Diagnosis::kOk, "functions, lines and types", ""});
  else
    findings.push_back({"symbols", Diagnosis::kLimited,
                        facts.has_symtab ? "functions, but no lines and types" : "stripped: only exported names",
                        "compile it with -g, or install its debug symbols, or set DEBUGINFOD_URLS"});
  return findings;
}

}  // namespace penna
