// SPDX-License-Identifier: MIT
// A library that few commands need (DuckDB, SQLite, debuginfod, libedit, the page's server), loaded by the one that does.
//
// Why not linked: everybody would need it installed, and would wait for it at each start. Invariant: once loaded it stays,
// so what was found in it can be called until the process ends.
#pragma once

#include <dlfcn.h>

#include <string>

namespace penna {

class LoadedLibrary {
 public:
  // `name`: a path, or a name that the dynamic linker searches.
  explicit LoadedLibrary(const std::string& name) : handle_(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) error_ = ::dlerror();
  }

  explicit operator bool() const { return handle_ != nullptr; }
  // Why it could not be loaded, in the dynamic linker's words.
  const std::string& error() const { return error_; }

  // Points `symbol`, of a function or an object, at the library's of that name: null where it has none, or there is no library.
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
