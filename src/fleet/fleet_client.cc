// SPDX-License-Identifier: MIT
// See fleet_client.h. The protocol: https://clickhouse.com/docs/interfaces/http
#include "fleet/fleet_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include "base/fd.h"
#include "base/file.h"
#include "base/installed_library.h"
#include "base/loaded_library.h"
#include "base/printable.h"
#include "sql/clickhouse/http_client.h"

namespace penna {
namespace {

using CallHttp = decltype(&penna_call_http);

Result<CallHttp> load_client() {
  const std::string path = PENNA_TRY(installed_library(kHttpClientModule));
  LoadedLibrary module(path);
  if (!module)
    return Error{
        fmt::format("cannot load what speaks HTTP ({}): install libcpp-httplib0.11, or what is newer", module.error())};
  CallHttp call = nullptr;
  module.find(call, kHttpClientEntry);
  if (call == nullptr) return Error{fmt::format("{} is no HTTP client of Penna's: install penna again", path)};
  return call;
}

// The first line of a file that only its owner can read.
Result<std::string> read_secret(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return Error{fmt::format("cannot read {}: {}", path, errno_text(errno))};
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return Error{fmt::format("{} is no file with a password or token", path)};
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return Error{fmt::format("{} belongs to another user (uid {}), and is not used", path, status.st_uid)};
  if ((status.st_mode & 077) != 0)
    return Error{fmt::format("others can read {} (mode {:o}), so it is not used: chmod 600 {}", path,
                             status.st_mode & 0777, path)};
  std::string text(4096, '\0');
  const ssize_t got = ::pread(file.get(), text.data(), text.size(), 0);
  if (got < 0) return Error{fmt::format("cannot read {}: {}", path, errno_text(errno))};
  text.resize(static_cast<size_t>(got));
  text.resize(std::min(text.find_first_of("\r\n"), text.size()));
  if (text.empty()) return Error{fmt::format("{} is empty: its first line is the password or token", path)};
  return text;
}

// "Code: 60, e.displayText() = DB::Exception: Table ... doesn't exist., e.what() = DB::Exception", and of newer servers
// "Code: 60. DB::Exception: Table ... does not exist. (UNKNOWN_TABLE) (version ...)".
int code_of(std::string_view body) {
  return body.starts_with("Code: ") ? std::atoi(std::string(body.substr(6, 8)).c_str()) : 0;
}
std::string words_of(std::string_view body) {
  const size_t exception = body.find("DB::Exception: ");
  if (body.starts_with("Code: ") && exception != std::string_view::npos) body.remove_prefix(exception + 15);
  body = body.substr(0, body.find(", e.what() = "));
  body = body.substr(0, body.find(" (version "));
  while (body.ends_with('\n')) body.remove_suffix(1);
  return std::string(body);
}

// From ErrorCodes.cpp: temporary errors of a server. After kTooBusy nothing was stored; after kBroken that is unknown.
constexpr int kNoSpace = 243;
constexpr std::array kTooBusy = {202, 252, kNoSpace};  // too many concurrent queries, too many parts
constexpr std::array kBroken = {3,   32,  33,  74,  75,  76,  99,  100, 101, 102, 159, 160,  203, 209,
                                210, 236, 241, 242, 279, 289, 319, 394, 425, 439, 999, 1000, 1002};
template <typename Codes>
bool is_one_of(const Codes& codes, int code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

class HttpFleetServer : public FleetServer {
 public:
  HttpFleetServer(CallHttp call, std::string address, const ServerOptions& options, std::string password,
                  std::string token)
      : call_(call),
        address_(std::move(address)),
        database_(options.database),
        user_(options.user),
        password_(std::move(password)),
        token_(std::move(token)) {}

  const std::string& name() const override { return address_; }
  const std::string& database() const override { return database_; }

  FleetAnswer ask(const FleetRequest& request) override {
    HttpCall call;
    call.server = address_;
    call.parameters = request.settings;
    if (!request.data.empty()) call.parameters.emplace_back("query", request.query);
    call.body = request.data.empty() ? std::string_view(request.query) : request.data;
    call.user = user_, call.password = password_, call.token = token_;
    call.take = request.take;
    HttpReply reply;
    call_(&call, &reply);
    return answer_of(reply);
  }

 private:
  using Outcome = FleetAnswer::Outcome;

  FleetAnswer answer_of(HttpReply& reply) const {
    if (reply.status == 200) return {Outcome::kDone, std::move(reply.body), 0};
    if (reply.status == 0)
      return {reply.connected ? Outcome::kUnknown : Outcome::kAway,
              fmt::format("{} does not answer: {}", address_, reply.error), 0};
    const int code = code_of(reply.body);
    const std::string words = printable(words_of(reply.body));
    if (reply.status == 401 || reply.status == 403 || (code >= 192 && code <= 195) || code == 516)
      return {Outcome::kRefused,
              fmt::format("{} refuses the user {}: {} (--user, --password-file and --token-file say who asks)",
                          address_, user_, words),
              code};
    if (is_one_of(kTooBusy, code))
      return {Outcome::kAway, fmt::format("{} is {}: {}", address_, code == kNoSpace ? "full" : "too busy", words),
              code};
    if (is_one_of(kBroken, code) || reply.status == 429 || (code == 0 && reply.status >= 502 && reply.status <= 504))
      return {Outcome::kUnknown, fmt::format("{} is in trouble: {}", address_, words), code};
    if (code == 0)
      return {Outcome::kRefused,
              fmt::format("{} does not answer as ClickHouse does (HTTP status {})", address_, reply.status), 0};
    return {Outcome::kRefused, fmt::format("{} says: {}", address_, words), code};
  }

  CallHttp call_;
  std::string address_, database_, user_, password_, token_;
};

}  // namespace

Result<std::unique_ptr<FleetServer>> open_fleet_server(const ServerOptions& options) {
  std::string address = PENNA_TRY(server_address(options.url));
  std::string password, token;
  if (!options.password_file.empty()) password = PENNA_TRY(read_secret(options.password_file));
  if (!options.token_file.empty()) token = PENNA_TRY(read_secret(options.token_file));
  const CallHttp call = PENNA_TRY(load_client());
  return std::unique_ptr<FleetServer>(
      std::make_unique<HttpFleetServer>(call, std::move(address), options, std::move(password), std::move(token)));
}

bool is_version_from(const std::string& version, int major, int minor) {
  char* end = nullptr;
  const long is_major = std::strtol(version.c_str(), &end, 10);
  const long is_minor = *end == '.' ? std::strtol(end + 1, nullptr, 10) : 0;
  return is_major > major || (is_major == major && is_minor >= minor);
}

Result<std::string> fleet_version(FleetServer& server) {
  FleetAnswer answer = server.ask({"SELECT version()"});
  if (!answer.is_done()) return Error{answer.text};
  std::string version = printable(answer.text.substr(0, answer.text.find('\n')));
  if (version.empty() || std::isdigit(static_cast<unsigned char>(version[0])) == 0)
    return Error{fmt::format("{} does not answer as ClickHouse does", server.name())};
  if (!is_version_from(version, 18, 16))
    return Error{fmt::format("{} is ClickHouse {}, which is too old: 18.16 is the oldest that has what is needed",
                             server.name(), version)};
  return version;
}

}  // namespace penna
