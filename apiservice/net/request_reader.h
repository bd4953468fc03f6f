// Bytes of one connection → requests, one after the other. The only place that includes the HTTP
// parser (http-parser 2.9, Debian).
//
// Not thread-safe: a connection has one and one thread at a time uses it. Limits: head and body
// sizes; a request that breaks one, or the grammar, ends the connection with `error_status()`.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/strings/string_view.h"
#include "apiservice/net/message.h"

namespace flyball::apiservice {

class RequestReader {
 public:
  enum class State { kNeedMore, kComplete, kError };

  RequestReader(size_t max_head_bytes, size_t max_body_bytes);
  ~RequestReader();

  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // Takes what the peer sent. Bytes after the end of a request wait for Next().
  State Feed(absl::string_view bytes);

  // Forgets the complete request and reads on in what is left over.
  State Next();

  State state() const;
  // Whether a request has begun (its head or body is not whole yet).
  bool InMessage() const;
  // Whether the peer lets the connection live on after the answer.
  bool KeepAlive() const;
  HttpRequest& request();
  int error_status() const;  // 400, 413, 431, 505

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace flyball::apiservice
