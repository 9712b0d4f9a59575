// SPDX-License-Identifier: MIT
// The loopback server facing untrusted clients: a real one, queried byte by byte over a separate socket.
#include "view/server/http_server.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <thread>

#include "base/fd.h"

namespace penna::http_server_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kToken = "0123456789abcdef0123456789abcdef";

class HttpServerTest : public testing::Test {
 protected:
  void SetUp() override {
    ::sigemptyset(&endings_);
    ::sigaddset(&endings_, SIGUSR1);
    ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &endings_, nullptr), 0);
    service_.token = kToken;
    service_.page = "<!doctype html>the page";
    service_.answer = [](const std::string& name, const HttpParameters& parameters) {
      std::string body = name;
      for (const auto& [key, value] : parameters) body += fmt::format("|{}={}", key, value);
      return HttpAnswer{name == "wrong" ? 400 : 200, "application/json", body};
    };
    std::promise<uint16_t> listens;
    service_.ready = [&](uint16_t port) { listens.set_value(port); };
    server_ = std::thread([&] { error_ = serve_http(service_, endings_); });
    port_ = listens.get_future().get();
  }
  void TearDown() override { stop(); }

  void stop() {
    if (!server_.joinable()) return;
    ::kill(::getpid(), SIGUSR1);
    server_.join();
    EXPECT_EQ(error_, "");
  }

  Fd connected(in_addr_t address = INADDR_LOOPBACK) const {
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port_);
    to.sin_addr.s_addr = htonl(address);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) socket.reset();
    return socket;
  }
  // All that comes back until the server closes.
  std::string send(const std::string& bytes) const {
    const Fd socket = connected();
    EXPECT_TRUE(socket);
    EXPECT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    std::string answer;
    char part[4096];
    for (ssize_t got; (got = ::recv(socket.get(), part, sizeof part, 0)) > 0;) answer.append(part, got);
    return answer;
  }
  std::string host() const { return fmt::format("127.0.0.1:{}", port_); }
  std::string ask(const std::string& path, const std::string& method = "GET") const {
    return send(fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", method, path, host()));
  }
  std::string ask_host(const std::string& host_lines) const {
    return send(fmt::format("GET /{}/ HTTP/1.1\r\n{}Connection: close\r\n\r\n", kToken, host_lines));
  }

  static std::string in(const std::string& rest) { return fmt::format("/{}{}", kToken, rest); }

  HttpService service_;
  uint16_t port_ = 0;

 private:
  sigset_t endings_{};
  std::thread server_;
  std::string error_;
};

TEST_F(HttpServerTest, AnAnswerThatTakesLongDoesNotDelayTheEnd) {
  std::promise<void> asked, left;
  std::shared_future<void> released = left.get_future().share();
  service_.answer = [&](const std::string&, const HttpParameters&) {
    asked.set_value();
    released.wait();
    return HttpAnswer{200, "application/json", "late"};
  };
  service_.leave = [&] { left.set_value(); };
  std::thread client([&] { ask(fmt::format("/{}/api/slow", kToken)); });
  asked.get_future().wait();
  stop();  // would never return
  client.join();
}

TEST_F(HttpServerTest, WhoKnowsTheTokenGetsThePage) {
  const std::string answer = ask(in("/"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\n<!doctype html>the page"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/html; charset=utf-8"));
}

TEST_F(HttpServerTest, EveryAnswerForbidsWhatIsNotOurs) {
  for (const std::string& answer : {ask(in("/")), ask(in("/api/x")), ask(in("/api/wrong")), ask(in("/x")), ask("/"),
                                    ask(in("/"), "POST"), ask_host("Host: evil.example\r\n")}) {
    EXPECT_THAT(answer, HasSubstr("Content-Security-Policy: default-src 'none'; "));
    EXPECT_THAT(answer, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
    EXPECT_THAT(answer, HasSubstr("Referrer-Policy: no-referrer\r\n"));
    EXPECT_THAT(answer, HasSubstr("Cache-Control: no-store\r\n"));
    EXPECT_THAT(answer, HasSubstr("Cross-Origin-Resource-Policy: same-origin\r\n"));
    EXPECT_THAT(answer, Not(HasSubstr("Access-Control-")));
  }
}

TEST_F(HttpServerTest, EveryCharacterOfTheTokenCounts) {
  const std::string token = kToken;
  for (size_t i = 0; i < token.size(); ++i) {
    std::string wrong = token;
    wrong[i] = wrong[i] == '0' ? '1' : '0';
    EXPECT_THAT(ask("/" + wrong + "/"), StartsWith("HTTP/1.1 404")) << i;
  }
  for (const std::string& path : {std::string("/"), "/" + token, "/" + token + "0/", "/" + token.substr(1) + "/",
                                  "//" + token + "/", std::string("//"), "/x/../" + token + "/"})
    EXPECT_THAT(ask(path), StartsWith("HTTP/1.1 404")) << path;
}

TEST_F(HttpServerTest, AnotherHostIsRefused) {
  EXPECT_THAT(ask_host(fmt::format("Host: localhost:{}\r\n", port_)), StartsWith("HTTP/1.1 200"));
  const std::string right = fmt::format("Host: {}\r\n", host());
  for (const std::string& lines :
       {std::string(), std::string("Host: 127.0.0.1\r\n"), std::string("Host: localhost\r\n"),
        fmt::format("Host: evil.example:{}\r\n", port_), fmt::format("Host: {}.evil.example\r\n", host()),
        fmt::format("Host: {}\r\n", port_), right + "Host: evil.example\r\n", "Host: evil.example\r\n" + right})
    EXPECT_THAT(ask_host(lines), StartsWith("HTTP/1.1 403")) << lines;
}

// Where something can be done.
class ActingServerTest : public HttpServerTest {
 protected:
  void SetUp() override {
    service_.act = [](const std::string& name, const HttpParameters&) {
      return HttpAnswer{200, "text/plain", "did " + name};
    };
    service_.next_event = [](uint64_t* seen) { return ++*seen <= 2 ? "event " + std::to_string(*seen) : ended(); };
    HttpServerTest::SetUp();
  }
  std::string post(const std::string& path, const std::string& lines) const {
    return send(fmt::format("POST {} HTTP/1.1\r\nHost: {}\r\n{}Content-Length: 0\r\nConnection: close\r\n\r\n", path,
                            host(), lines));
  }
  std::string origin() const { return fmt::format("Origin: http://{}\r\n", host()); }

 private:
  static std::string ended() {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return {};
  }
};

TEST_F(ActingServerTest, ThePageItselfMayAskForSomething) {
  const std::string answer = post(in("/act/this"), origin());
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("did this"));
}

TEST_F(ActingServerTest, NobodyElseMay) {
  const std::string port = std::to_string(port_);
  for (const std::string& lines :
       {std::string(), std::string("Origin: null\r\n"), std::string("Origin: http://evil.example\r\n"),
        "Origin: http://evil.example:" + port + "\r\n", "Origin: https://" + host() + "\r\n",
        "Origin: http://" + host() + "0\r\n", "Origin: " + host() + "\r\n", origin() + origin(),
        "Referer: http://" + host() + "/\r\n"})
    EXPECT_THAT(post(in("/act/this"), lines), StartsWith("HTTP/1.1 403")) << lines;
  EXPECT_THAT(post("/" + std::string(32, '0') + "/act/this", origin()), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(post(in("/api/x"), origin()), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(ask(in("/act/this")), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(ask(in("/act/this"), "PUT"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(ask(in("/act/this"), "OPTIONS"), StartsWith("HTTP/1.1 405"));
}

TEST_F(ActingServerTest, EventsAreSentUntilTheEnd) {
  std::thread ending([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop();
  });
  const std::string told = ask(in("/events"));
  ending.join();
  EXPECT_THAT(told, HasSubstr("Content-Type: text/event-stream"));
  EXPECT_THAT(told, HasSubstr("data: event 1\n\n"));
  EXPECT_THAT(told, HasSubstr("data: event 2\n\n"));
}

TEST_F(HttpServerTest, NothingButGetAndHead) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
    const std::string answer = ask(in("/api/x"), method);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 405")) << method;
    EXPECT_THAT(answer, HasSubstr("Allow: GET, HEAD\r\n")) << method;
  }
  const std::string head = ask(in("/"), "HEAD");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(head, Not(HasSubstr("the page")));
}

TEST_F(HttpServerTest, QuestionsGetTheirParametersDecoded) {
  EXPECT_THAT(ask(in("/api/find?q=a%20%3Cb%3E&px=7")), HasSubstr("\r\n\r\nfind|px=7|q=a <b>"));
  EXPECT_THAT(ask(in("/api/wrong")), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(ask(in("/api/find?q=" + std::string(5000, 'x'))), StartsWith("HTTP/1.1 414"));
}

TEST_F(HttpServerTest, WhatIsNoRequestHarmsNobody) {
  for (const std::string& bytes :
       {std::string("\r\n\r\n"), std::string("GET / \r\n\r\n"), std::string(100'000, 'x'), std::string(3000, '\0'),
        std::string("\x16\x03\x01\xff\r\n\r\n"), std::string("GET / HTTP/1.1\r\nHost")}) {
    const Fd socket = connected();
    ASSERT_TRUE(socket);
    ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);  // not all of it may be taken
  }
  EXPECT_THAT(ask(in("/")), StartsWith("HTTP/1.1 200"));
}

// A browser that drops its requests must not end the server: it writes to a socket that nobody reads.
TEST_F(HttpServerTest, WhoLeavesInTheMiddleHarmsNobody) {
  service_.page.assign(8 << 20, 'x');
  for (int i = 0; i < 20; ++i) {
    const Fd socket = connected();
    const std::string bytes = fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", in("/"), host());
    ASSERT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  EXPECT_THAT(ask(in("/api/still")), HasSubstr("\r\n\r\nstill"));
}

TEST_F(HttpServerTest, ListensOnOneAddressOfThisMachine) {
  EXPECT_TRUE(connected(INADDR_LOOPBACK));
  EXPECT_FALSE(connected(INADDR_LOOPBACK + 1));  // 127.0.0.2 would answer if it listened everywhere
}

// An open page keeps its connections: Ctrl-C must not wait for them.
TEST_F(HttpServerTest, EndsWhileAPageIsOpen) {
  const Fd idle = connected();
  const std::string bytes = fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", in("/"), host());
  ASSERT_EQ(::send(idle.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  char part[64];
  ASSERT_GT(::recv(idle.get(), part, sizeof part, 0), 0);
  const auto before = std::chrono::steady_clock::now();
  stop();
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(4));
}

TEST_F(HttpServerTest, EndsRightAfterItBegan) {
  for (int i = 0; i < 50; ++i) {
    stop();
    SetUp();
  }
}

TEST_F(HttpServerTest, APortThatIsTakenIsTold) {
  HttpService second = service_;
  second.port = port_;
  sigset_t none;
  ::sigemptyset(&none);
  EXPECT_THAT(serve_http(second, none), StartsWith(fmt::format("cannot listen on port {} of 127.0.0.1: ", port_)));
}

}  // namespace
}  // namespace penna::http_server_test
