#include "apiservice/list_parameters.h"

#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace flyball::apiservice {
namespace {

// Go's strconv.ParseInt(text, 10, 64): digits with an optional sign, nothing else.
absl::Status CheckInteger(const Query& query, absl::string_view name) {
  const std::optional<absl::string_view> text = query.Get(name);
  if (!text.has_value()) return absl::OkStatus();
  absl::string_view digits = *text;
  if (!digits.empty() && (digits[0] == '+' || digits[0] == '-')) digits.remove_prefix(1);
  const bool well_formed =
      !digits.empty() && digits.find_first_not_of("0123456789") == absl::string_view::npos;
  int64_t value = 0;
  if (well_formed && absl::SimpleAtoi(*text, &value)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("strconv.ParseInt: parsing \"", *text,
                   well_formed ? "\": value out of range" : "\": invalid syntax"));
}

wire::Status Invalid(absl::string_view field, absl::string_view reason, absl::string_view message) {
  wire::StatusDetails details;
  details.group = "meta.k8s.io";
  details.kind = "ListOptions";
  details.causes.push_back({.message = std::string(message),
                            .reason = std::string(reason),
                            .field = std::string(field)});
  return {422, "Invalid",
          absl::StrCat("ListOptions.meta.k8s.io \"\" is invalid: ", field, ": ", message), details};
}

wire::Status ForbiddenOption(absl::string_view field, absl::string_view why) {
  return Invalid(field, "FieldValueForbidden", absl::StrCat("Forbidden: ", field, why));
}

}  // namespace

absl::StatusOr<ListParameters> ParseListParameters(const Query& query) {
  RETURN_IF_ERROR(CheckInteger(query, "timeoutSeconds"));
  RETURN_IF_ERROR(CheckInteger(query, "limit"));
  ListParameters parameters;
  if (const absl::string_view text = query.Value("labelSelector"); !text.empty()) {
    ASSIGN_OR_RETURN(parameters.label_selector, kube::Selector::Parse(text));
  }
  if (const absl::string_view text = query.Value("fieldSelector"); !text.empty()) {
    ASSIGN_OR_RETURN(parameters.field_selector, FieldSelector::Parse(text));
  }
  return parameters;
}

std::optional<wire::Status> CheckListOptions(const Query& query) {
  const absl::string_view match = query.Value("resourceVersionMatch");
  const absl::string_view version = query.Value("resourceVersion");
  constexpr absl::string_view kMatch = "resourceVersionMatch";
  if (!match.empty()) {
    if (version.empty()) {
      return ForbiddenOption(kMatch, " is forbidden unless resourceVersion is provided");
    }
    if (query.Has("continue")) {
      return ForbiddenOption(kMatch, " is forbidden when continue is provided");
    }
    if (match != "Exact" && match != "NotOlderThan") {
      return Invalid(kMatch, "FieldValueNotSupported",
                     absl::StrCat("Unsupported value: \"", match,
                                  "\": supported values: \"Exact\", \"NotOlderThan\", \"\""));
    }
    if (match == "Exact" && version == "0") {
      return ForbiddenOption(kMatch, " \"Exact\" is forbidden for resourceVersion \"0\"");
    }
  }
  if (query.Has("sendInitialEvents")) {
    return ForbiddenOption("sendInitialEvents", " is forbidden for list");
  }
  return std::nullopt;
}

}  // namespace flyball::apiservice
