#include "adapter/live/api/form.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/go/url.h"
#include "base/one_line.h"
#include "base/status_macros.h"
#include "promql/engine/api.h"
#include "promql/text.h"

namespace flyball::live {
namespace {

absl::Status Append(absl::string_view encoded,
                    std::vector<std::pair<std::string, std::string>>& parameters) {
  for (const absl::string_view pair : absl::StrSplit(encoded, '&', absl::SkipEmpty())) {
    if (parameters.size() == Form::kMaxParameters) {
      return absl::InvalidArgumentError(
          absl::StrCat("more than ", Form::kMaxParameters, " parameters"));
    }
    if (!go::IsWellEscaped(pair) || absl::StrContains(pair, ';')) {
      return absl::InvalidArgumentError("error parsing form values: invalid URL escape");
    }
    const size_t equals = pair.find('=');
    const absl::string_view value =
        equals == absl::string_view::npos ? "" : pair.substr(equals + 1);
    parameters.emplace_back(go::Unescape(pair.substr(0, equals), /*plus_is_space=*/true),
                            go::Unescape(value, /*plus_is_space=*/true));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Form> Form::Of(const http::HttpRequest& request) {
  Form form;
  const bool posted =
      request.method == "POST" && absl::StartsWithIgnoreCase(request.Header("Content-Type"),
                                                             "application/x-www-form-urlencoded");
  if (posted && request.body.size() > kMaxBodyBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the parameters are longer than ", kMaxBodyBytes, " bytes"));
  }
  if (posted) RETURN_IF_ERROR(Append(request.body, form.parameters_));
  const size_t query = request.target.find('?');
  if (query != std::string::npos) {
    RETURN_IF_ERROR(Append(absl::string_view(request.target).substr(query + 1), form.parameters_));
  }
  return form;
}

std::string Form::Value(absl::string_view name) const {
  for (const auto& [key, value] : parameters_) {
    if (key == name) return value;
  }
  return "";
}

std::vector<std::string> Form::All(absl::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : parameters_) {
    if (key == name) values.push_back(value);
  }
  return values;
}

absl::StatusOr<int64_t> Form::TimeMs(absl::string_view name, std::optional<int64_t> absent) const {
  const std::string text = Value(name);
  if (text.empty() && absent) return *absent;
  auto time_ms = promql::ParseApiTimeMs(text);
  if (!time_ms.ok()) return promql::InvalidParameter(name, time_ms.status());
  return time_ms;
}

absl::StatusOr<size_t> Form::Limit() const {
  const std::string text = Value("limit");
  size_t limit = 0;
  if (text.empty() || absl::SimpleAtoi(text, &limit)) return limit;
  return promql::InvalidParameter(
      "limit", absl::InvalidArgumentError(absl::StrCat(
                   "cannot parse ", promql::Quote(Abridged(text)), " to a number from 0 on")));
}

}  // namespace flyball::live
