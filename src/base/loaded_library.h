// SPDX-License-Identifier: MIT
// A library that few commands need (DuckDB, SQLite, debuginfod, libedit, the page's server), loaded on demand.
//
// Why not linked: every user would need it installed, and would wait for it at each start. Invariant: it is never
// unloaded, so its symbols stay valid until the process ends.
#pragma once

#include <dlfcn.h>

#include <string>

namespace penna {

class LoadedLibrary {
 public:
  // `name`: a path, or a name that the dynamic linker searches for.
  explicit LoadedLibrary(const std::string& name) : handle_(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) error_ = ::dlerror();
  }

  explicit operator bool() const { return handle_ != nullptr; }
  // Why it could not be loaded: dlerror()'s text.
  const std::string& error() const { return error_; }

  // Sets `symbol`, a pointer to a function or an object, to the library's symbol of that name, or to null.
  template <class T>
  void find(T*& symbol, const char* name) {
    symbol = handle_ == nullptr ? nullptr : reinterpret_cast<T*>(::dlsym(handle_, name));
    if (symbol == nullptr && missing_ == nullptr) missing_ = name;
  }
  // The first name that find() did not find; null if it found all.
  const char* missing() const { return missing_; }

 private:
  void* handle_;
  const char* missing_ = nullptr;
  std::string error_;
};

}  // namespace penna
