#include "scaler/triggers/secrets.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace flyball::scaler {

Secrets::Secrets(const TriggerPlan& plan)
    : ns_(plan.context.ns), keys_(plan.spec.secrets), read_(plan.context.read_secret) {
  if (!keys_.empty() && !read_) plan.metadata.Wrong("", "Secrets are not known here");
}

bool Secrets::Has(absl::string_view parameter) const {
  return keys_.count(std::string(parameter)) != 0;
}

absl::StatusOr<std::string> Secrets::Read(
    std::initializer_list<absl::string_view> parameters) const {
  for (const absl::string_view parameter : parameters) {
    const auto found = keys_.find(std::string(parameter));
    if (found == keys_.end()) continue;
    absl::StatusOr<std::string> value = read_(ns_, found->second);
    if (!value.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat("parameter ", parameter, " from Secret ", found->second.secret, ", key ",
                       found->second.key, ": ", value.status().message()));
    }
    if (!absl::StripAsciiWhitespace(*value).empty()) return value;
  }
  return std::string();
}

absl::StatusOr<std::string> Secrets::ReadLine(
    std::initializer_list<absl::string_view> parameters) const {
  ASSIGN_OR_RETURN(const std::string raw, Read(parameters));
  std::string value(absl::StripAsciiWhitespace(raw));
  const bool one_line = std::none_of(value.begin(), value.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f;
  });
  if (value.empty() || !one_line) {
    return absl::FailedPreconditionError(absl::StrCat(
        "parameter ", *parameters.begin(), ": the Secret's value is empty or has line breaks"));
  }
  return value;
}

}  // namespace flyball::scaler
