#include "scaler/triggers/parts/secrets.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace flyball::scaler {

Secrets::Secrets(const TriggerPlan& plan, std::string host, int port)
    : ns_(plan.context.ns),
      host_(std::move(host)),
      port_(port),
      keys_(plan.spec.secrets),
      read_(plan.context.read_secret) {
  if (!keys_.empty() && !read_) plan.metadata.Wrong("", "Secrets are not known here");
}

bool Secrets::Has(absl::string_view parameter) const {
  return keys_.count(std::string(parameter)) != 0;
}

absl::Status Secrets::MaySend(absl::string_view allowed_hosts) const {
  const std::string with_port = absl::StrCat(host_, ":", port_);
  for (const absl::string_view item : absl::StrSplit(allowed_hosts, ',')) {
    const std::string allowed = absl::AsciiStrToLower(absl::StripAsciiWhitespace(item));
    if (allowed == host_ || allowed == with_port) return absl::OkStatus();
  }
  return absl::PermissionDeniedError(
      absl::StrCat("its annotation ", kAllowedHosts, " does not name ", with_port));
}

absl::StatusOr<std::string> Secrets::Read(
    std::initializer_list<absl::string_view> parameters) const {
  for (const absl::string_view parameter : parameters) {
    const auto found = keys_.find(std::string(parameter));
    if (found == keys_.end()) continue;
    absl::StatusOr<SecretValue> value = read_(ns_, found->second);
    absl::Status status = value.status();
    if (value.ok() && value->allowed_hosts.has_value()) status = MaySend(*value->allowed_hosts);
    if (!status.ok()) {
      return absl::FailedPreconditionError(absl::StrCat("parameter ", parameter, " from Secret ",
                                                        found->second.secret, ", key ",
                                                        found->second.key, ": ", status.message()));
    }
    if (!absl::StripAsciiWhitespace(value->text).empty()) return std::move(value->text);
  }
  return std::string();
}

absl::StatusOr<std::string> Secrets::ReadPem(absl::string_view parameter) const {
  ASSIGN_OR_RETURN(std::string value, Read({parameter}));
  if (value.empty() && Has(parameter)) {
    return absl::FailedPreconditionError(
        absl::StrCat("parameter ", parameter, ": the Secret's value is empty"));
  }
  return value;
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
