// Bytes of one connection → requests, one after the other. The only place that includes the HTTP
// parser (llhttp, strict).
//
// Not thread-safe: a connection has one and one thread at a time uses it. Limits: RequestLimits,
// for which every byte counts, separators and what is thrown away included. A request that breaks
// one, or the grammar, ends the connection with `error_status()`.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/strings/string_view.h"
#include "http/server/message.h"
#include "http/server/options.h"

namespace flyball::http {

class RequestReader {
 public:
  enum class State { kNeedMore, kComplete, kError };

  explicit RequestReader(const RequestLimits& limits);
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
  const HttpRequest& request() const;
  int error_status() const;  // 400, 413, 431, 505

  // About what the request and the bytes after it take in memory.
  size_t BytesHeld() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace flyball::http
