// SPDX-License-Identifier: MIT
// See http_server.h.
#include "view/server/http_server.h"

#include <httplib.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>

namespace penna {
namespace {

constexpr size_t kMostQuery = 4096;  // bytes of a question's target
constexpr int kMostListeners = 4;    // to events: each holds a thread, and questions need some, too
constexpr size_t kThreads = 32;      // a browser has six connections to a page, and each holds one until it has rested
constexpr size_t kMostQuestions = 1000;  // on one connection

// In constant time: the duration must not reveal how much of it is right.
bool is_same(const std::string& given, const std::string& wanted) {
  if (given.size() != wanted.size()) return false;
  unsigned different = 0;
  for (size_t i = 0; i < wanted.size(); ++i)
    different |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(wanted[i]);
  return different == 0;
}

void say_plainly(httplib::Response& response, int status, const char* text) {
  response.status = status;
  response.set_content(std::string(text) + "\n", "text/plain; charset=utf-8");
}

// For every answer: no external resources, no other page may read or frame it, nothing is cached.
httplib::Headers strict_headers() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; "
           "img-src data: blob:; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cache-Control", "no-store"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Cross-Origin-Opener-Policy", "same-origin"}};
}

class Server {
 public:
  explicit Server(const HttpService& service) : service_(service) {
    server_.set_default_headers(strict_headers());
    server_.set_payload_max_length(0);
    server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };  // the library deletes it
    // How many seconds an open page's idle connection occupies a thread, and delays the end by Ctrl-C.
    server_.set_keep_alive_timeout(1);
    server_.set_keep_alive_max_count(kMostQuestions);
    server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      return route(request, response), httplib::Server::HandlerResponse::Handled;
    });
    // No reuse of the port by another program at the same time.
    server_.set_socket_options([](socket_t) {});
  }

  // The bound port, or -1.
  int bind() {
    port_ = service_.port == 0 ? server_.bind_to_any_port("127.0.0.1")
                               : (server_.bind_to_port("127.0.0.1", service_.port) ? service_.port : -1);
    return port_;
  }
  void run() { server_.listen_after_bind(); }
  void stop() {
    ends_ = true;
    server_.stop();
  }
  bool runs() const { return server_.is_running(); }

 private:
  // A page of another origin may resolve its own host name to this address: then Host has that name.
  bool is_host(const std::string& host) const {
    const std::string port = ":" + std::to_string(port_);
    return host == "127.0.0.1" + port || host == "localhost" + port;
  }

  // A page of another origin can send a POST, but not with our Origin.
  bool is_own_origin(const httplib::Request& request) const {
    constexpr std::string_view kScheme = "http://";
    const std::string origin = request.get_header_value("Origin");
    return request.get_header_value_count("Origin") == 1 && origin.starts_with(kScheme) &&
           is_host(origin.substr(kScheme.size()));
  }

  void route(const httplib::Request& request, httplib::Response& response) {
    const bool acts = service_.act && request.method == "POST";
    if (!acts && request.method != "GET" && request.method != "HEAD") {
      response.set_header("Allow", service_.act ? "GET, HEAD, POST" : "GET, HEAD");
      return say_plainly(response, 405, service_.act ? "only GET and POST are answered" : "only GET is answered");
    }
    if (request.get_header_value_count("Host") != 1 || !is_host(request.get_header_value("Host")))
      return say_plainly(response, 403, "this is not the address that penna view has printed");
    if (request.target.size() > kMostQuery) return say_plainly(response, 414, "the question is too long");
    const std::string& path = request.path;
    const size_t slash = path.find('/', 1);
    if (slash == std::string::npos || !is_same(path.substr(1, slash - 1), service_.token))
      return say_plainly(response, 404, "the address is the whole line that penna view has printed");
    const std::string rest = path.substr(slash);
    HttpParameters parameters;
    for (const auto& [name, value] : request.params) parameters[name] = value;
    constexpr std::string_view kQuestions = "/api/", kActs = "/act/";
    if (acts) {
      if (!is_own_origin(request))
        return say_plainly(response, 403, "only the page of penna view itself may ask for this");
      if (!rest.starts_with(kActs)) return say_plainly(response, 405, "only GET is answered here");
      return give(service_.act(rest.substr(kActs.size()), parameters), response);
    }
    if (rest == "/events" && service_.next_event) return send_events(response);
    if (rest == "/") return response.set_content(service_.page, "text/html; charset=utf-8");
    if (rest.compare(0, kQuestions.size(), kQuestions) != 0) return say_plainly(response, 404, "there is no such page");
    give(service_.answer(rest.substr(kQuestions.size()), parameters), response);
  }

  static void give(const HttpAnswer& answer, httplib::Response& response) {
    response.status = answer.status;
    response.set_content(answer.body, answer.type);
  }

  // Sends events as long as the client listens: if nothing happens, a comment line shows whether it does.
  void send_events(httplib::Response& response) {
    if (++listeners_ > kMostListeners) {
      --listeners_;
      return say_plainly(response, 503, "too many pages listen already");
    }
    auto seen = std::make_shared<uint64_t>(0);
    response.set_chunked_content_provider(
        "text/event-stream",
        [this, seen](size_t, httplib::DataSink& sink) {
          if (ends_) return sink.done(), true;
          const std::string event = service_.next_event(seen.get());
          const std::string text = event.empty() ? ":\n\n" : "data: " + event + "\n\n";
          return sink.write(text.data(), text.size());
        },
        [this](bool) { --listeners_; });
  }

  const HttpService& service_;
  httplib::Server server_;
  int port_ = -1;
  std::atomic<bool> ends_ = false;
  std::atomic<int> listeners_ = 0;
};

// False at a further signal, too. The moment is longer than idle connections delay the end.
bool ends_in_a_moment(const std::atomic<bool>& has_ended, const sigset_t& signals) {
  constexpr timespec kStep = {0, 50'000'000};
  constexpr int kSteps = 40;
  for (int step = 0; step < kSteps && !has_ended; ++step)
    if (::sigtimedwait(&signals, nullptr, &kStep) > 0) return has_ended;
  return has_ended;
}

}  // namespace

std::string serve_http(const HttpService& service, const sigset_t& signals) {
  Server server(service);
  const int port = server.bind();
  if (port < 0) {
    const std::string wanted = service.port == 0 ? "a port" : "port " + std::to_string(service.port);
    return "cannot listen on " + wanted + " of 127.0.0.1: " + std::strerror(errno);
  }
  std::atomic<bool> has_ended = false;
  std::thread listener([&] { server.run(), has_ended = true; });
  // The library ignores a stop() before it runs: without this wait, a signal right at the start would be lost.
  while (!server.runs() && !has_ended) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  service.ready(static_cast<uint16_t>(port));
  int signal = 0;
  ::sigwait(&signals, &signal);
  server.stop();
  if (service.leave && !ends_in_a_moment(has_ended, signals)) service.leave();
  listener.join();
  return {};
}

void penna_serve_http(const HttpService* service, const sigset_t* signals, std::string* error) {
  *error = serve_http(*service, *signals);
}

}  // namespace penna
