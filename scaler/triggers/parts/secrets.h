// The Secrets that a trigger's parameters come from.
//
// Thread-safe. Each use reads the Secrets through TriggerContext::read_secret, which may return the
// same value for some seconds (stores/secrets.h). If a Secret's annotation names hosts, its values
// are sent to no other server.
#pragma once

#include <initializer_list>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "scaler/triggers/parts/metadata.h"

namespace flyball::scaler {

// The annotation of a Secret with the hosts that triggers may send it to, as "host,host:port".
inline constexpr char kAllowedHosts[] = "flyball.dev/allowed-hosts";

class Secrets {
 public:
  // The Secrets of the planned trigger, whose values are sent to that host and port.
  Secrets(const TriggerPlan& plan, std::string host, int port);

  bool Has(absl::string_view parameter) const;

  // The value of the first of the parameters (one and its older names) that is not blank; "" if
  // none is.
  //   kFailedPrecondition  a Secret cannot be read, or may not be sent to this server; the message
  //                        names the Secret and shows nothing of its content
  absl::StatusOr<std::string> Read(std::initializer_list<absl::string_view> parameters) const;

  // Certificates or a key, as PEM; "" if no Secret is given for the parameter. A blank value is an
  // error: a connection without it would be less protected than the trigger asks for.
  absl::StatusOr<std::string> ReadPem(absl::string_view parameter) const;

  // Like Read, without white space around the value. Blank values and line breaks are errors.
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
