// Reads requests, one after the other, from the bytes of one connection. The only place that
// includes the HTTP parser (llhttp, strict).
//
// Not thread-safe: each connection has one, used by one thread at a time. Limits: RequestLimits,
// for which every byte counts, including separators and bytes that are dropped. A request that
// exceeds a limit or breaks the grammar ends the connection with `error_status()`.
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

  // Drops the complete request and continues with the bytes that are left over.
  State Next();

  State state() const;
  // Whether a request has begun and is not complete.
  bool InMessage() const;
  // Whether the peer wants to keep the connection after the answer.
  bool KeepAlive() const;
  HttpRequest& request();
  const HttpRequest& request() const;
  int error_status() const;  // 400, 413, 431, 505

  // Approximate memory of the request and the bytes after it.
  size_t BytesHeld() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace flyball::http
