// SPDX-License-Identifier: MIT
// Browser: opens a secret address in the user's browser.
//
// Why through a file: a process's arguments are readable by everyone. The browser is given the name of a file that only
// the user can read, and that redirects to the address.
// Invariant: the file is removed with this object.
#pragma once

#include <csignal>
#include <string>

namespace penna {

class Browser {
 public:
  Browser() = default;
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;
  ~Browser();

  // With xdg-open, if there is a display. `mask`: the signals that the browser must have blocked. Its exit is ignored,
  // and its output is not shown. False: no display, or no file could be made; nothing is opened.
  bool open(const std::string& address, const sigset_t& mask);

 private:
  std::string path_;  // empty: no file
};

}  // namespace penna
