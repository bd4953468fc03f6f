// Reads one HTTP/1.1 answer from its bytes: status, headers and body, with gzip decompressed.
//
// Not thread-safe. Whatever the peer sends, the memory is bounded by the limits below and a few
// fixed buffers (llhttp keeps nothing, zlib 40 KiB); the body is passed on in pieces and not kept.
#pragma once

#include <llhttp.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "http/client/inflater.h"
#include "http/headers.h"

namespace flyball::http {

// Limits of the bytes of header names and values together, and of header lines. A peer may send as
// many bytes again that are neither (status line, chunk sizes and extensions, trailers,
// informational answers), and eight more for each byte of the body, since a chunk of one byte has
// five such bytes. A gzip body may exceed what it unpacks to by as many bytes, since empty blocks
// would never reach a limit on the unpacked size.
inline constexpr size_t kMaxHeadBytes = 64 << 10;
inline constexpr size_t kMaxHeaders = 256;

class ResponseReader {
 public:
  struct Handlers {
    // Called once, before the body; false: no more is wanted.
    std::function<bool(int status, Headers headers)> on_head;
    // Called with each piece of the body; false: no more is wanted.
    std::function<bool(absl::string_view)> on_data;
  };

  // `head_only`: the answer to HEAD, which has no body whatever its headers say.
  ResponseReader(bool head_only, Handlers handlers);
  ResponseReader(const ResponseReader&) = delete;
  ResponseReader& operator=(const ResponseReader&) = delete;

  // Takes received bytes. Not to be called after done().
  //   kUnavailable         it is no HTTP, or no gzip
  //   kResourceExhausted   a limit is exceeded
  absl::Status Feed(absl::string_view bytes);
  // The peer has closed, which ends an answer without a length. kUnavailable: it was incomplete.
  absl::Status End();

  // The answer is complete, or a handler returned false.
  bool done() const { return whole_ || stopped_; }
  // Another request may go out on this connection; only when done.
  bool keep_alive() const { return whole_ && !stopped_ && !closed_ && !left_over_ && keep_alive_; }

 private:
  // The callbacks of llhttp. Each returns what llhttp is to do: continue (0), end with an error
  // (-1), skip the body (TakeHead: 1) or pause (TakeEnd: HPE_PAUSED).
  static const llhttp_settings_t& Settings();
  int TakeName(absl::string_view piece);
  int TakeValue(absl::string_view piece);
  int TakeHead();
  int TakeBody(absl::string_view piece);
  int TakeEnd();

  int Fail(absl::Status failure);
  int Append(absl::string_view piece, std::string& to);
  absl::Status EndOfBody() const;

  const bool head_only_;
  const Handlers handlers_;
  llhttp_t parser_;
  Headers headers_;
  std::optional<Inflater> inflater_;
  absl::Status failure_;  // the error found by a callback
  bool in_value_ = false, started_ = false, whole_ = false, stopped_ = false;
  bool keep_alive_ = false, closed_ = false, left_over_ = false;
  size_t head_bytes_ = 0;
  size_t fed_ = 0, body_bytes_ = 0;  // as received; body_bytes_ before decompression
  size_t unpacked_bytes_ = 0;        // of the body
};

}  // namespace flyball::http
