// SPDX-License-Identifier: MIT
// The loopback server of `penna view`, in a separate module that is loaded on demand.
//
// Why separate: the HTTP library depends on TLS and compression libraries, which no other verb should load (4 ms at
// each start). The loader decides what is served: the module knows nothing of recordings.
// Invariant: it listens only on 127.0.0.1, and answers only GET and HEAD with the right token and Host.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace penna {

struct HttpAnswer {
  int status = 200;
  std::string type;  // "application/json"
  std::string body;
};

// The parameters of a request `/TOKEN/api/NAME?…`; if a name occurs several times, the last.
using HttpParameters = std::map<std::string, std::string>;

struct HttpService {
  uint16_t port = 0;  // 0: any free port
  std::string token;
  std::string page;                                                                  // /TOKEN/
  std::function<HttpAnswer(const std::string& name, const HttpParameters&)> answer;  // on several threads at once
  std::function<void(uint16_t port)> ready;                                          // called when it listens
};

// Serves until one of `signals`, which must be blocked in all threads, arrives. Returns "" or the error, as a sentence.
std::string serve_http(const HttpService& service, const sigset_t& signals);

// The module's only entry, found with dlsym().
extern "C" void penna_serve_http(const HttpService* service, const sigset_t* signals, std::string* error);
inline constexpr const char* kHttpModule = "penna-http.so";
inline constexpr const char* kHttpEntry = "penna_serve_http";

}  // namespace penna
