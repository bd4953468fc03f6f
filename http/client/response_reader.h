// Bytes of one HTTP/1.1 answer → its status, headers and body, gzip undone.
//
// Not thread-safe. Whatever the peer sends, what is held is bounded by the limits below and a few
// fixed buffers (llhttp keeps nothing, zlib 40 KiB); the body is handed on in pieces and not kept.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace flyball::http {

// Of names and values together, and of header lines. A peer may also send so many bytes that are
// neither (status line, chunk sizes and extensions, trailers, informational answers), and eight
// more for each byte of the body, as chunks of one byte are five.
inline constexpr size_t kMaxHeadBytes = 64 << 10;
inline constexpr size_t kMaxHeaders = 256;

class ResponseReader {
 public:
  struct Handlers {
    // Called once, before the body; false: no more is wanted.
    std::function<bool(int status, std::vector<std::pair<std::string, std::string>> headers)>
        on_head;
    // Called with each piece of the body; false: no more is wanted.
    std::function<bool(absl::string_view)> on_data;
  };

  // `head_only`: the answer to HEAD, which has no body whatever its headers say.
  ResponseReader(bool head_only, Handlers handlers);
  ~ResponseReader();
  ResponseReader(const ResponseReader&) = delete;
  ResponseReader& operator=(const ResponseReader&) = delete;

  // What was received; not after done().
  //   kUnavailable         it is no HTTP, or no gzip
  //   kResourceExhausted   a limit is exceeded
  absl::Status Feed(absl::string_view bytes);
  // The peer has closed: an answer without a length ends so. kUnavailable: it was not whole.
  absl::Status End();

  bool done() const;     // the answer is whole, or a handler wanted no more
  bool started() const;  // the head was handed over
  // Another request may go out on this connection; only when done.
  bool keep_alive() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace flyball::http
