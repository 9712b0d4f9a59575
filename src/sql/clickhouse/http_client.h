// SPDX-License-Identifier: MIT
// A request over HTTP or HTTPS, in a separate module that is loaded on demand: view/server/http_server.h says why.
//
// Invariant: certificates are checked; no redirection is followed, so that a password goes nowhere else.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penna {

struct HttpCall {
  std::string server;                                           // "https://ch1.example:8443"
  std::vector<std::pair<std::string, std::string>> parameters;  // of the query string
  std::string user, password, token;                            // the token, if there is one, is used instead
  std::string_view body;
  int connect_seconds = 10, answer_seconds = 300;
  std::function<bool(std::string_view)> take;  // of an answer with status 200; none: it is in `body`
};

struct HttpReply {
  int status = 0;           // 0: there is none
  bool connected = false;   // false: nothing was sent
  std::string body, error;  // `error`: a few words, when there is no status
};

// The module's one entry, which dlsym() finds.
extern "C" void penna_call_http(const HttpCall* call, HttpReply* reply);
inline constexpr const char* kHttpClientModule = "penna-http-client.so";
inline constexpr const char* kHttpClientEntry = "penna_call_http";

}  // namespace penna
