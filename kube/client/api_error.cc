#include "kube/client/api_error.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/go/text.h"
#include "kube/objects/json_members.h"
#include "nlohmann/json.hpp"

namespace flyball::kube {
namespace {

constexpr size_t kMaxShown = 200;
constexpr size_t kMaxText = 2048;  // of a body that client-go takes into a message

std::string MessageOf(absl::string_view body) {
  const auto json = nlohmann::json::parse(body.begin(), body.end(), nullptr, false);
  if (json.is_object() && json.contains("message")) return TextOf(json, "message");
  return std::string(absl::StripAsciiWhitespace(body.substr(0, kMaxShown)));
}

// " (get deployments.apps web)": the request, as far as the path shows it.
std::string AskedFor(absl::string_view method, absl::string_view path) {
  path = path.substr(0, path.find('?'));
  std::vector<absl::string_view> parts = absl::StrSplit(path, '/', absl::SkipEmpty());
  const bool core = !parts.empty() && parts[0] == "api";
  const size_t root = core ? 2 : 3;
  if (parts.size() <= root) return "";
  // client-go's scale client leaves the group out.
  std::string group = core || parts.back() == "scale" ? "" : absl::StrCat(".", parts[1]);
  parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(root));
  if (parts[0] == "namespaces" && parts.size() > 2) parts.erase(parts.begin(), parts.begin() + 2);
  return absl::StrCat(" (", absl::AsciiStrToLower(method), " ", parts[0], group,
                      parts.size() > 1 ? absl::StrCat(" ", parts[1]) : "", ")");
}

// What apimachinery says of an answer without a Status object.
std::string GenericMessage(int status, absl::string_view text) {
  static constexpr std::pair<int, absl::string_view> kMessages[] = {
      {400, "the server rejected our request for an unknown reason"},
      {401, "the server has asked for the client to provide credentials"},
      {404, "the server could not find the requested resource"},
      {405, "the server does not allow this method on the requested resource"},
      {406, "the server was unable to respond with a content type that the client supports"},
      {409, "the server reported a conflict"},
      {422, "the server rejected our request due to an error in our request"},
      {429, "the server has received too many requests and has asked us to try again later"},
      {503, "the server is currently unable to handle the request"},
      {504,
       "the server was unable to return a response in the time allotted, but may still be "
       "processing the request"},
  };
  const bool says_why = status == 406 && !text.empty() && text != "unknown";
  if (status == 403 || status == 415 || says_why) return std::string(text);
  for (const auto& [code, message] : kMessages) {
    if (code == status) return std::string(message);
  }
  if (status >= 500) {
    return absl::StrCat("an error on the server (", go::Quote(text),
                        ") has prevented the request from succeeding");
  }
  return absl::StrCat("the server responded with the status code ", status,
                      " but did not return more information");
}

}  // namespace

absl::Status ApiError(absl::string_view what, int http_status, absl::string_view body) {
  const std::string message = MessageOf(body);
  return absl::Status(
      http::HttpStatusCode(http_status),
      absl::StrCat(what, ": ", message.empty() ? absl::StrCat("HTTP ", http_status) : message));
}

absl::Status AnswerError(absl::string_view method, absl::string_view path,
                         const http::HttpAnswer& answer) {
  const absl::StatusCode code = http::HttpStatusCode(answer.status);
  const auto json = nlohmann::json::parse(answer.body, nullptr, false);
  if (json.is_object() && TextOf(json, "kind") == "Status" && TextOf(json, "status") != "Success") {
    const bool exists = answer.status == 409 && TextOf(json, "reason") == "AlreadyExists";
    return absl::Status(exists ? absl::StatusCode::kAlreadyExists : code, TextOf(json, "message"));
  }
  const absl::string_view type = answer.Header("Content-Type");
  std::string text = "unknown";
  if (type.empty() || absl::StartsWith(type, "text/")) {
    text =
        std::string(absl::StripAsciiWhitespace(absl::string_view(answer.body).substr(0, kMaxText)));
  }
  const bool exists = answer.status == 409 && method == "POST";
  return absl::Status(exists ? absl::StatusCode::kAlreadyExists : code,
                      absl::StrCat(GenericMessage(answer.status, text), AskedFor(method, path)));
}

}  // namespace flyball::kube
