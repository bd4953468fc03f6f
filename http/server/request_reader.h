// Reads requests, one after the other, from the bytes of one connection. The only place that
// includes the HTTP parser (llhttp, strict).
//
// Not thread-safe: each connection has one, which one thread at a time uses. Limits: RequestLimits,
// for which every byte counts, including separators and bytes that are thrown away. A request that
// breaks a limit or the grammar ends the connection with `error_status()`.
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

  // Forgets the complete request and goes on with the bytes that are left over.
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
