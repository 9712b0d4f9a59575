// SPDX-License-Identifier: MIT
// See suppressions.h.
#include "model/names/suppressions.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/names/library_frames.h"

namespace penna {
namespace {

// Without debug symbols a library's inner functions have no names: then an exported one around them matches.
constexpr std::string_view kKept[] = {
    // The dynamic linker and dlopen: objects, search paths, thread-local blocks; what libraries that run before main()
    // keep, such as libstdc++'s emergency memory for exceptions.
    "^_dl_*", "^dl_open_worker*", "^dlopen*", "^__libc_early_init$", "^call_init$",
    // Buffers of stdin, stdout and stderr.
    "^_IO_file_doallocate$",
    // Locales, time zones, name services, character sets and message catalogues, once loaded; environment variables;
    // conversions registered with printf.
    "^setlocale$", "^_nl_*", "^std::locale::*", "^tzset*", "^__tz_convert$", "^localtime*", "^mktime$", "^__nss_*",
    "^__resolv_*", "^__res_vinit$", "^gethostby*", "^getservby*", "^getpw*", "^getgr*", "^__gconv_find_*",
    "^__gconv_lookup_*", "^__wcsmbs_load_conv", "^set_binding_values*", "^bindtextdomain$", "^bind_textdomain_codeset$",
    "^textdomain$", "^setenv$", "^putenv$", "^register_printf_*",
    // Thread-local blocks of stacks, which wait for the next thread; exit handlers.
    "^pthread_create*", "^__cxa_atexit$", "^__new_exitfn$"};

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

}  // namespace

bool suppression_matches(std::string_view pattern, std::string_view text) {
  const bool from_begin = pattern.starts_with('^');
  if (from_begin) pattern.remove_prefix(1);
  const bool to_end = pattern.ends_with('$');
  if (to_end) pattern.remove_suffix(1);
  // Match each piece between stars at the first place where it fits: if any places fit, these do. A last piece tied to
  // the end must fit there.
  bool first = true;
  for (;;) {
    const size_t star = pattern.find('*');
    const std::string_view piece = pattern.substr(0, star);
    const bool last = star == std::string_view::npos;
    if (last && to_end) {
      if (first && from_begin) return text == piece;
      return text.size() >= piece.size() && text.ends_with(piece);
    }
    const size_t at = text.find(piece);
    if (at == std::string_view::npos || (first && from_begin && at != 0)) return false;
    if (last) return true;
    text.remove_prefix(at + piece.size());
    pattern.remove_prefix(star + 1);
    first = false;
  }
}

Result<> Suppressions::add(std::string_view text) {
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view words = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.empty() || words[0] == '#') continue;
    constexpr std::string_view kLeak = "leak:";
    if (!words.starts_with(kLeak) || words.size() == kLeak.size())
      return Error{
          fmt::format("line {} is no suppression: write leak:PATTERN, where PATTERN is part of the name of a "
                      "function, source file or module",
                      line)};
    if (patterns_.size() == kMost) return Error{fmt::format("there are more than {} suppressions", kMost)};
    patterns_.emplace_back(words.substr(kLeak.size()));
  }
  return ok();
}

bool Suppressions::match(const NameFrame& frame, const CodeMap& map) const {
  for (const std::string& pattern : patterns_) {
    if (suppression_matches(pattern, frame.full_name())) return true;
    if (!frame.file.empty() && suppression_matches(pattern, frame.file)) return true;
    if (frame.module != kNoModule && suppression_matches(pattern, map.path(frame.module))) return true;
  }
  return false;
}

LeakSuppressor::LeakSuppressor(const Recording& recording, Names& names, const Suppressions& list, bool built_in)
    : names_(names),
      built_in_(built_in),
      listed_(recording, names, [&](const NameFrame& frame) { return uint64_t{list.match(frame, names.map())}; }) {}

bool LeakSuppressor::suppresses(uint32_t process, uint32_t stack) {
  return listed_.bits(process, stack) != 0 || (built_in_ && is_kept_by_libraries(process, stack));
}

bool LeakSuppressor::is_kept_by_libraries(uint32_t process, uint32_t stack) const {
  for (const NameFrame* frame : names_.stack(process, stack).frames) {
    if (frame->module == kNoModule || !is_library_file(names_.map().path(frame->module))) return false;
    for (const std::string_view pattern : kKept)
      if (suppression_matches(pattern, frame->full_name())) return true;
  }
  return false;
}

}  // namespace penna
