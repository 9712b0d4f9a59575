// SPDX-License-Identifier: MIT
// See http_client.h.
#include "sql/clickhouse/http_client.h"

#include <httplib.h>

namespace penna {
namespace {

// Whether it occurs before anything was sent.
bool is_before(httplib::Error error) {
  using httplib::Error;
  return error == Error::Connection || error == Error::BindIPAddress || error == Error::SSLConnection ||
         error == Error::SSLLoadingCerts || error == Error::SSLServerVerification || error == Error::ConnectionTimeout;
}

const char* words_of(httplib::Error error) {
  using httplib::Error;
  switch (error) {
    case Error::Connection: return "it cannot be reached";
    case Error::ConnectionTimeout: return "it cannot be reached in time";
    case Error::Read: return "the connection ended before its answer";
    case Error::Write: return "the connection ended while it was sent to";
    case Error::SSLConnection: return "TLS cannot be agreed on";
    case Error::SSLLoadingCerts: return "the certificates of this system cannot be read";
    case Error::SSLServerVerification: return "its certificate is not trusted";
    default: return "the connection failed";
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void penna_call_http(const HttpCall* call, HttpReply* reply) {
  httplib::Client client(call->server);
  if (!client.is_valid()) {
    reply->error =
        call->server.starts_with("https") ? "this build of Penna speaks no TLS" : "its address cannot be used";
    return;
  }
  client.set_connection_timeout(call->connect_seconds);
  client.set_read_timeout(call->answer_seconds);
  client.set_write_timeout(call->answer_seconds);
  client.set_follow_location(false);
  if (call->token.empty())
    client.set_basic_auth(call->user, call->password);
  else
    client.set_bearer_token_auth(call->token);
  httplib::Request request;
  request.method = "POST";
  request.path = httplib::append_query_params("/", {call->parameters.begin(), call->parameters.end()});
  request.body = std::string(call->body);
  int status = 0;
  request.response_handler = [&](const httplib::Response& response) {
    status = response.status;
    return true;
  };
  request.content_receiver = [&](const char* data, size_t size, uint64_t, uint64_t) {
    if (status == 200 && call->take) return call->take({data, size});
    reply->body.append(data, size);
    return true;
  };
  const httplib::Result result = client.send(request);
  reply->connected = !is_before(result.error());
  if (result) {
    reply->status = result->status;
  } else {
    reply->error = words_of(result.error());
  }
}

}  // namespace penna
