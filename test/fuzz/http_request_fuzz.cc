// links: http_server
// Any bytes on a connection: read in one piece or byte by byte they give the same requests, no
// limit is broken, and nothing that would end a line or a word gets into a request.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "http/server/request_reader.h"

namespace {

using flyball::http::HttpRequest;
using flyball::http::RequestLimits;
using flyball::http::RequestReader;

constexpr RequestLimits kLimits = {
    .max_head_bytes = 512, .max_header_lines = 16, .max_body_bytes = 256};

// Which error it is may differ: a head that is both too long and malformed breaks the rule that is
// met first.
struct Seen {
  std::vector<std::string> requests;
  bool error = false;
  friend bool operator==(const Seen&, const Seen&) = default;
};

void RequireClean(const HttpRequest& request) {
  for (const char c : request.target) {
    if (static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= 0x7f) std::abort();
  }
  if (request.headers.size() > kLimits.max_header_lines) std::abort();
  for (const auto& [name, value] : request.headers) {
    if (name.empty() || name.find_first_of(": \t\r\n") != std::string::npos) std::abort();
    if (value.find_first_of(std::string("\r\n\0", 3)) != std::string::npos) std::abort();
  }
}

void Take(RequestReader& reader, Seen* seen) {
  while (reader.state() == RequestReader::State::kComplete) {
    const HttpRequest& request = reader.request();
    RequireClean(request);
    std::string text = request.method + " " + request.target;
    size_t head = request.target.size();
    for (const auto& [name, value] : request.headers) {
      text += "\n" + name + ":" + value;
      head += name.size() + value.size();
    }
    if (head > kLimits.max_head_bytes) std::abort();
    seen->requests.push_back(text);
    if (!reader.KeepAlive()) return;
    reader.Next();
  }
  if (reader.state() == RequestReader::State::kError) seen->error = true;
}

bool Open(const RequestReader& reader) { return reader.state() == RequestReader::State::kNeedMore; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  Seen whole;
  RequestReader at_once(kLimits);
  at_once.Feed(bytes);
  Take(at_once, &whole);
  Seen pieces;
  RequestReader slowly(kLimits);
  for (size_t i = 0; i < bytes.size() && Open(slowly); ++i) {
    slowly.Feed(absl::string_view(bytes).substr(i, 1));
    Take(slowly, &pieces);
  }
  if (!(whole == pieces)) std::abort();
  return 0;
}
