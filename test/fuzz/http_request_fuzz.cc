// links: apiservice
// Any bytes on a connection: read in one piece or byte by byte they give the same requests, and no
// limit is broken.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "apiservice/net/request_reader.h"

namespace {

using flyball::apiservice::HttpRequest;
using flyball::apiservice::RequestReader;

constexpr size_t kMaxHead = 512;
constexpr size_t kMaxBody = 256;

// Which error it is may differ: a head that is both too long and malformed breaks the rule that is
// met first.
struct Seen {
  std::vector<std::string> requests;
  bool error = false;
  friend bool operator==(const Seen&, const Seen&) = default;
};

void Take(RequestReader& reader, Seen* seen) {
  while (reader.state() == RequestReader::State::kComplete) {
    const HttpRequest& request = reader.request();
    std::string text = request.method + " " + request.target;
    size_t head = request.target.size();
    for (const auto& [name, value] : request.headers) {
      text += "\n" + name + ":" + value;
      head += name.size() + value.size();
    }
    if (head > kMaxHead) std::abort();
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
  RequestReader at_once(kMaxHead, kMaxBody);
  at_once.Feed(bytes);
  Take(at_once, &whole);
  Seen pieces;
  RequestReader slowly(kMaxHead, kMaxBody);
  for (size_t i = 0; i < bytes.size() && Open(slowly); ++i) {
    slowly.Feed(absl::string_view(bytes).substr(i, 1));
    Take(slowly, &pieces);
  }
  if (!(whole == pieces)) std::abort();
  return 0;
}
