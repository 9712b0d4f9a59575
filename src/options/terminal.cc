// SPDX-License-Identifier: MIT
// See terminal.h.
#include "options/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace penna {

bool is_terminal(int fd) { return ::isatty(fd) == 1; }

// 80 if the terminal does not report its width: the width that text is written for.
size_t terminal_width(int fd) {
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr) {
    const unsigned long width = std::strtoul(columns, nullptr, 10);
    if (width >= 20 && width <= 10'000) return width;
  }
  if (!is_terminal(fd)) return 0;
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) return size.ws_col;
  return 80;
}

size_t text_width(int fd) {
  const size_t width = terminal_width(fd);
  return width != 0 ? width : 80;
}

bool wants_ascii(bool asked, int fd) {
  if (asked || !is_terminal(fd)) return true;
  // The first of these that is set decides, see setlocale(3).
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* locale = std::getenv(name);
    if (locale == nullptr || *locale == '\0') continue;
    return ::strcasestr(locale, "utf-8") == nullptr && ::strcasestr(locale, "utf8") == nullptr;
  }
  return true;
}

bool wants_color(ColorMode mode, int fd) {
  if (mode != ColorMode::kAuto) return mode == ColorMode::kAlways;
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* term = std::getenv("TERM");
  return is_terminal(fd) && term != nullptr && std::strcmp(term, "dumb") != 0;
}

}  // namespace penna
