// links: http_client
//
// An answer of any bytes: it reads the same however it is cut, and what is handed over of its head
// is bounded.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "http/client/response_reader.h"

namespace {

using flyball::http::ResponseReader;

void Require(bool holds) {
  if (!holds) std::abort();
}

// Head and body, and how it ended. A bomb is left after a mebibyte.
std::string ReadIn(absl::string_view bytes, size_t piece) {
  constexpr size_t kMaxBody = 1 << 20;
  std::string head, body;
  ResponseReader reader(false, {.on_head =
                                    [&](int status, const auto& headers) {
                                      head = absl::StrCat(status);
                                      for (const auto& [name, value] : headers) {
                                        absl::StrAppend(&head, " ", name, "=", value);
                                      }
                                      Require(headers.size() <= flyball::http::kMaxHeaders);
                                      Require(head.size() <= 2 * flyball::http::kMaxHeadBytes);
                                      return true;
                                    },
                                .on_data =
                                    [&](absl::string_view data) {
                                      body.append(data.data(),
                                                  std::min(data.size(), kMaxBody - body.size()));
                                      return body.size() < kMaxBody;
                                    }});
  absl::Status status;
  while (!bytes.empty() && status.ok() && !reader.done()) {
    status = reader.Feed(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  if (status.ok() && !reader.done()) status = reader.End();
  // What was handed on of a broken body depends on where it was cut, and so does which of two limits
  // or rules an answer breaks first.
  if (!status.ok()) return absl::StrCat(head, " broken");
  return absl::StrCat(head, " | ", body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = ReadIn(bytes, size + 1);
  Require(ReadIn(bytes, 1) == whole);
  Require(ReadIn(bytes, 7) == whole);
  return 0;
}
