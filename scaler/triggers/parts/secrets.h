// The Secrets that a trigger's parameters come from.
//
// Thread-safe. Secrets are asked for at each use; whoever reads them may give a value again for
// some seconds (stores/secrets.h). The values of a Secret whose annotation names hosts are sent to
// no other server.
#pragma once

#include <initializer_list>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "scaler/triggers/parts/metadata.h"

namespace flyball::scaler {

// On a Secret: the hosts that triggers may send it to, as "host,host:port".
inline constexpr char kAllowedHosts[] = "flyball.dev/allowed-hosts";

class Secrets {
 public:
  // The Secrets of the planned trigger, whose values are sent to that host and port.
  Secrets(const TriggerPlan& plan, std::string host, int port);

  bool Has(absl::string_view parameter) const;

  // The first of the parameters (one and its older names) whose value is not blank; "" for none.
  // kFailedPrecondition names the Secret that cannot be read or may not be sent to this server, and
  // never shows what is in it.
  absl::StatusOr<std::string> Read(std::initializer_list<absl::string_view> parameters) const;

  // The same, without white space around the value. Blank values and line breaks are errors.
  absl::StatusOr<std::string> ReadLine(std::initializer_list<absl::string_view> parameters) const;

 private:
  absl::Status MaySend(absl::string_view allowed_hosts) const;

  const std::string ns_;
  const std::string host_;  // lower case
  const int port_;
  const std::map<std::string, TriggerSpec::SecretKey> keys_;
  const decltype(TriggerContext::read_secret) read_;
};

}  // namespace flyball::scaler
