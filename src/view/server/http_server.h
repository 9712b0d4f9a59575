// SPDX-License-Identifier: MIT
// The loopback server of `penna view`, in a separate module that is loaded on demand.
//
// Why separate: the HTTP library brings TLS and compression libraries along, which no other verb should load (4 ms at
// each start). What it serves is decided by its loader: it knows nothing about recordings.
// Invariant: it listens on 127.0.0.1 only, and answers only GET and HEAD with the right token and Host. If there are
// actions, it also answers POST, but only from the page itself: with its Origin, and no body.
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
  std::function<void(uint16_t port)> ready;                                          // it listens
  // Of POST /TOKEN/act/NAME?…, on several threads at once. None: POST is refused.
  std::function<HttpAnswer(const std::string& name, const HttpParameters&)> act{};
  // What GET /TOKEN/events sends, as server-sent events: one line of text each. Waits a moment for the next one after
  // *seen, and updates *seen; "": none has come. None: there is no such page.
  std::function<std::string(uint64_t* seen)> next_event{};
  // Ends the process though an answer is still being worked out, which nothing can stop: called a moment after the
  // signal, or at once at a second one. None, or if it returns: the answer is waited for.
  std::function<void()> leave{};
};

// Serves until one of `signals`, which must be blocked in all threads, arrives. Returns "" or the error, as a sentence.
std::string serve_http(const HttpService& service, const sigset_t& signals);

// The module's only entry, found with dlsym().
extern "C" void penna_serve_http(const HttpService* service, const sigset_t* signals, std::string* error);
inline constexpr const char* kHttpModule = "penna-http.so";
inline constexpr const char* kHttpEntry = "penna_serve_http";

}  // namespace penna
