// SPDX-License-Identifier: MIT
// What each trap breaks in which client, and how to fix it: the text of penna lint.
//
// Tested with gdb 13.1, bpftrace 0.17, perf 6.1 on Linux 6.18; libbpf's limits are those of its parser (src/usdt.c).
#include "base/check.h"
#include "symbols/points/sdt_lint.h"

namespace penna {
namespace {

constexpr const char* kLosesRest = "loses that argument and all that follow";
constexpr const char* kScriptRefused = "refuses a script that reads an argument of the probe";
constexpr const char* kLeftOut = "leaves the argument out";
constexpr const char* kRefuses = "refuses to attach";
constexpr const char* kRegisterOrStack =
    "Pass the argument through a register: copy it to a local variable t and put asm(\"\" : \"+r\"(t)) in front of the "
    "probe, as PENNA_EVENT and PENNA_SDT do.";

std::vector<SdtTrapFacts> make_facts() {
  return {
      {"float-marker",
       "the size of an argument is marked with f, as sdt.h of systemtap marks floats from 4.8 on",
       {{"gdb", kLosesRest}, {"bpftrace", kScriptRefused}, {"perf", "refuses the event"}, {"libbpf", kRefuses}},
       "Pass the bits of the float as an integer, as PENNA_EVENT and PENNA_SDT do."},
      {"symbol-operand",
       "an argument names a symbol, which only the linker knows the address of",
       {{"gdb", kLosesRest},
        {"bpftrace", "shows a wrong value, or refuses the script"},
        {"perf", kLeftOut},
        {"libbpf", kRefuses}},
       kRegisterOrStack},
      {"vector-register",
       "an argument is in a floating point or vector register, which no probe can read",
       {{"bpftrace", "refuses the script"}, {"perf", "refuses the event"}, {"libbpf", kRefuses}},
       "Pass the bits of the float as an integer, as PENNA_EVENT and PENNA_SDT do."},
      {"byte-register",
       "an argument is in one of %r8b to %r15b, which gdb knows by other names",
       {{"gdb", kLosesRest}},
       "Print the 64-bit name (%q[operand] in inline assembly): the size before the @ says how much of it counts."},
      {"high-byte-register",
       "an argument is in %ah, %bh, %ch or %dh",
       {{"bpftrace", kScriptRefused}, {"perf", "shows the low byte instead, a wrong value"}, {"libbpf", kRefuses}},
       "Print the 64-bit name (%q[operand] in inline assembly), which the compiler does not do for high bytes."},
      {"narrow-register",
       "an argument is in a 32-bit register by its own name (w0 to w30)",
       {{"libbpf", kRefuses}},
       "Print the operand without a modifier, as x0: the size before the @ says how much of it counts."},
      {"index-operand",
       "an argument is in memory at the sum of two registers",
       {{"perf", kLeftOut}, {"libbpf", "refuses to attach before version 1.7; on AArch64 always"}},
       kRegisterOrStack},
      {"argument-size",
       "the size of an argument is missing, or none of 1, 2, 4, 8",
       {{"gdb", "loses that argument and all that follow, but where only the size is missing"},
        {"bpftrace", "aborts, or refuses the script"},
        {"perf", "refuses every event of the file when it is above 8"},
        {"libbpf", kRefuses}},
       "Pass a pointer to what is larger than 8 bytes; write the size and the sign in front of each operand."},
      {"unknown-operand",
       "an argument is written in a way that is no register, no register + decimal number, and no decimal constant",
       {{"gdb", "may lose that argument and all that follow"},
        {"bpftrace", "may refuse a script that reads an argument of the probe"},
        {"perf", "leaves the argument out, or refuses the event"},
        {"libbpf", kRefuses}},
       kRegisterOrStack},
      {"too-many-arguments",
       "there are more than 12 arguments",
       {{"libbpf", kRefuses}},
       "Pass a pointer to a struct, or split the probe."},
      {"nop5",
       "the probe's nop is, or is followed by, a 5-byte nop (0f 1f 44 00 00)",
       {{"Linux 6.18 and later",
         "makes it a call while a tool listens, which overwrites the red zone of a leaf function: the program "
         "computes wrong results"}},
       "Use one nop, or one nop and a 10-byte nop (66 2e 0f 1f 84 00 00 00 00 00): PENNA_POINT_NOP10."},
      {"bare-nop10",
       "the probe's nop is a 10-byte nop with a segment prefix",
       {{"Linux before 7", "refuses to attach, for bpftrace and perf alike"}},
       "Put a one-byte nop in front of it and let the note name that one."},
      {"no-nop",
       "there is no nop where the note says that the probe is",
       {{"gdb, bpftrace, perf", "stop at some other instruction, or in the middle of one, and may crash the program"}},
       "Rebuild it: the note belongs to other code, or the file was changed after it was linked."},
      {"outside-code",
       "the note says that the probe is outside the program's code",
       {{"gdb", "cannot start the program once it has a breakpoint there"},
        {"bpftrace, perf", "refuse the probe or never see it hit"},
        {"libbpf", kRefuses}},
       "Put the note into the section group of its code (section flag \"?\" of the assembler), so that the linker "
       "drops both or none."},
      {"duplicate-site",
       "several notes describe the same probe at the same place",
       {{"perf", "refuses the event"}, {"gdb", "lists it as often"}},
       "Write the note once for each copy of the code: put it into the section group of its function (section flag "
       "\"?\")."},
      {"missing-semaphore",
       "the program has a semaphore for the probe, but the note does not name it",
       {{"gdb, bpftrace, perf", "do not raise it, so a program that tests it never passes the probe"}},
       "Define the semaphore before the probe is used (with systemtap's header, define SDT_USE_VARIADIC and "
       "_SDT_HAS_SEMAPHORES first; PENNA_SDT_WITH_SEMAPHORE names it)."},
      {"unwritable-semaphore",
       "the note's semaphore is outside the program's writable data",
       {{"bpftrace, perf", "never raise it, so a program that tests it never passes the probe"},
        {"gdb", "cannot raise it where nothing is"},
        {"libbpf", "refuses to attach where nothing is"}},
       "Define the semaphore as a writable, hidden unsigned short in section .probes of the same program or library."},
      {"misplaced-semaphore",
       "the note's semaphore is not in section .probes",
       {{"bpftrace, perf", "never raise it, so a program that tests it never passes the probe"}},
       "Define the semaphore as a hidden unsigned short with __attribute__((section(\".probes\")))."},
      {"discarded-base",
       "section .stapsdt.base is missing",
       {{"gdb", "shows none of the file's probes"},
        {"perf", "puts the probe at a wrong place of a program that is not position-independent"}},
       "Keep the section: name _.stapsdt.base from code that is kept (.reloc ., R_X86_64_NONE, _.stapsdt.base), or "
       "link without --gc-sections."},
      {"wrong-base",
       "the note's address of .stapsdt.base is not that of the section, and the probe is found without this correction",
       {{"gdb, perf", "stop at a wrong place, which may crash the program, or cannot run it"}},
       "Rebuild it, and keep the section and the notes together: a tool moved one of them, or dropped the symbol."},
      {"damaged-note",
       "a note ends too early, or its strings are not text",
       {{"gdb, bpftrace, perf", "do not see the probe"}},
       "Rebuild it: provider, name and arguments are printable text, each ended by a zero."},
      {"unseen-section",
       "section .note.stapsdt is not of type NOTE",
       {{"gdb, bpftrace, perf", "see none of the file's probes"}},
       "Declare it as .pushsection .note.stapsdt,\"?\",@note."},
  };
}

}  // namespace

const SdtTrapFacts& sdt_trap_facts(SdtTrap trap) {
  static const std::vector<SdtTrapFacts> kFacts = make_facts();
  PENNA_CHECK(kFacts.size() == static_cast<size_t>(SdtTrap::kCount) && trap < SdtTrap::kCount);
  return kFacts[static_cast<size_t>(trap)];
}

}  // namespace penna
