#include "apiservice/requests/list_parameters.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/go/text.h"
#include "base/status_macros.h"

namespace flyball::apiservice {
namespace {

// Go's strconv.ParseInt(text, 10, 64): digits with an optional sign, nothing else.
absl::Status CheckInteger(const Query& query, absl::string_view name) {
  constexpr size_t kLongest = 64;
  if (query.BytesSent(name) > kLongest) {
    return absl::InvalidArgumentError(absl::StrCat(name, " is longer than ", kLongest, " bytes"));
  }
  const std::optional<std::string> text = query.Get(name);
  if (!text.has_value()) return absl::OkStatus();
  absl::string_view digits = *text;
  if (!digits.empty() && (digits[0] == '+' || digits[0] == '-')) digits.remove_prefix(1);
  const bool well_formed =
      !digits.empty() && digits.find_first_not_of("0123456789") == absl::string_view::npos;
  int64_t value = 0;
  if (well_formed && absl::SimpleAtoi(*text, &value)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("strconv.ParseInt: parsing ", go::Quote(*text),
                   well_formed ? ": value out of range" : ": invalid syntax"));
}

// The text of a selector, unless it would take too much memory: a parsed term takes more than its
// text.
absl::StatusOr<std::string> SelectorText(const Query& query, absl::string_view name,
                                         size_t max_bytes) {
  constexpr size_t kTermBytes = 64;
  const auto too_large = [&] {
    return absl::ResourceExhaustedError(
        absl::StrCat(name, " takes more than the ", max_bytes,
                     " bytes of --max-selector-bytes; each key and value counts ", kTermBytes,
                     " bytes and its length"));
  };
  // A text that is this long exceeds the limit in any case and is not decoded.
  if (query.BytesSent(name) > 3 * max_bytes) return too_large();
  std::string text = query.Value(name);
  size_t bytes = text.size();
  for (const char c : text) {
    if (absl::StrContains(",=!<>(", c)) bytes += kTermBytes;
  }
  if (bytes > max_bytes) return too_large();
  return text;
}

using Causes = std::vector<wire::StatusCause>;

constexpr absl::string_view kMatch = "resourceVersionMatch";
constexpr absl::string_view kInitialEvents = "sendInitialEvents";

void Forbid(absl::string_view field, absl::string_view why, Causes* out) {
  out->push_back({.message = absl::StrCat("Forbidden: ", field, why),
                  .reason = "FieldValueForbidden",
                  .field = std::string(field)});
}

void NotSupported(absl::string_view match, absl::string_view supported, Causes* out) {
  out->push_back({.message = absl::StrCat("Unsupported value: ", go::Quote(match),
                                          ": supported values: ", supported),
                  .reason = "FieldValueNotSupported",
                  .field = std::string(kMatch)});
}

void CheckList(const Query& query, absl::string_view match, Causes* out) {
  if (!match.empty()) {
    const std::string version = query.Value("resourceVersion");
    if (version.empty()) Forbid(kMatch, " is forbidden unless resourceVersion is provided", out);
    if (!query.Value("continue").empty()) {
      Forbid(kMatch, " is forbidden when continue is provided", out);
    }
    if (match != "Exact" && match != "NotOlderThan") {
      NotSupported(match, "\"Exact\", \"NotOlderThan\", \"\"", out);
    }
    if (match == "Exact" && version == "0") {
      Forbid(kMatch, " \"exact\" is forbidden for resourceVersion \"0\"", out);
    }
  }
  if (query.Has(kInitialEvents)) Forbid(kInitialEvents, " is forbidden for list", out);
}

void CheckWatch(const Query& query, absl::string_view match, Causes* out) {
  const bool events = query.Has(kInitialEvents);
  if (events && match != "NotOlderThan") {
    out->push_back({.message =
                        "Forbidden: sendInitialEvents requires setting resourceVersionMatch to "
                        "NotOlderThan",
                    .reason = "FieldValueForbidden",
                    .field = std::string(kMatch)});
  }
  if (events) {
    Forbid(kInitialEvents, " is forbidden for watch unless the WatchList feature gate is enabled",
           out);
  }
  if (match.empty()) return;
  if (!events) Forbid(kMatch, " is forbidden for watch unless sendInitialEvents is provided", out);
  if (match != "NotOlderThan") NotSupported(match, "\"NotOlderThan\"", out);
  if (!query.Value("continue").empty()) {
    Forbid(kMatch, " is forbidden when continue is provided", out);
  }
}

}  // namespace

absl::StatusOr<kube::Selector> ParseSelector(const Query& query, absl::string_view name,
                                             size_t max_bytes) {
  ASSIGN_OR_RETURN(const std::string text, SelectorText(query, name, max_bytes));
  return kube::Selector::Parse(text);
}

absl::StatusOr<ListParameters> ParseListParameters(const Query& query, size_t max_selector_bytes) {
  RETURN_IF_ERROR(CheckInteger(query, "timeoutSeconds"));
  RETURN_IF_ERROR(CheckInteger(query, "limit"));
  ListParameters parameters;
  ASSIGN_OR_RETURN(parameters.label_selector,
                   ParseSelector(query, "labelSelector", max_selector_bytes));
  ASSIGN_OR_RETURN(const std::string fields,
                   SelectorText(query, "fieldSelector", max_selector_bytes));
  if (!fields.empty()) {
    ASSIGN_OR_RETURN(parameters.field_selector, FieldSelector::Parse(fields));
  }
  return parameters;
}

std::optional<wire::Status> CheckListOptions(const Query& query) {
  Causes causes;
  const auto check = query.Flag("watch") ? CheckWatch : CheckList;
  check(query, query.Shown(kMatch), &causes);
  if (causes.empty()) return std::nullopt;
  const std::string all =
      absl::StrJoin(causes, ", ", [](std::string* out, const wire::StatusCause& cause) {
        absl::StrAppend(out, cause.field, ": ", cause.message);
      });
  const absl::string_view open = causes.size() > 1 ? "[" : "";
  const absl::string_view close = causes.size() > 1 ? "]" : "";
  wire::StatusDetails details;
  details.group = "meta.k8s.io";
  details.kind = "ListOptions";
  details.causes = std::move(causes);
  return wire::Status{422, "Invalid",
                      absl::StrCat("ListOptions.meta.k8s.io \"\" is invalid: ", open, all, close),
                      details};
}

}  // namespace flyball::apiservice
