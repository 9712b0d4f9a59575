// SPDX-License-Identifier: MIT
// Browser: opens an address that nobody else may know in the user's browser.
//
// Why by a file: the arguments of a process are everybody's to read. The browser is given the name of a file that only
// the user can read, and that leads to the address.
// Invariant: the file is gone when this is.
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

  // By xdg-open, if there is a display. `mask`: of the signals that the browser shall have blocked. Its end is nobody's
  // business, and what it prints is not shown. False: there is no display, or no file could be made; nothing is opened.
  bool open(const std::string& address, const sigset_t& mask);

 private:
  std::string path_;  // empty: there is no file
};

}  // namespace penna
