#include "kube/api_error.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kube/transport.h"
#include "nlohmann/json.hpp"

namespace flyball::kube {
namespace {

constexpr size_t kMaxShown = 200;

std::string MessageOf(absl::string_view body) {
  const auto json = nlohmann::json::parse(body.begin(), body.end(), nullptr, false);
  if (json.is_object()) {
    const auto message = json.find("message");
    if (message != json.end() && message->is_string()) return message->get<std::string>();
  }
  return std::string(absl::StripAsciiWhitespace(body.substr(0, kMaxShown)));
}

}  // namespace

absl::Status ApiError(absl::string_view what, int http_status, absl::string_view body) {
  const std::string message = MessageOf(body);
  return absl::Status(
      HttpStatusCode(http_status),
      absl::StrCat(what, ": ", message.empty() ? absl::StrCat("HTTP ", http_status) : message));
}

}  // namespace flyball::kube
