// Resolves a name into addresses: by /etc/hosts, then by DNS with the search domains and ndots of
// resolv.conf, in the order in which they are to be tried (RFC 6724).
//
// The caller's thread does the work (c-ares), so that it returns at its deadline however slow the
// servers are, and nothing continues in the background. Answers are not cached, since a client that
// keeps its connections seldom asks. Limits: 16 addresses. nsswitch's other sources (mDNS, LDAP)
// are not used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "http/address.h"
#include "http/client/dns_settings.h"
#include "http/client/wait.h"

namespace flyball::http {

// `host`: a name, or an address, which is returned without a question.
//   kUnavailable                     there is no such name, or no server that knows
//   kDeadlineExceeded, kCancelled    see Until::Check
absl::StatusOr<std::vector<Endpoint>> Resolve(const std::string& host, uint16_t port,
                                              const DnsSettings& dns, const Until& until);

}  // namespace flyball::http
