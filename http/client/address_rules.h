// Which addresses may be connected to on behalf of users who are not trusted: not those of this
// machine, of its link, or of the cloud's metadata server, which trusts every process here.
//
// Pure; immutable once made. Source: the special-purpose registries of IANA (RFC 6890), and what
// the clouds document of their metadata servers.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "http/address.h"

namespace flyball::http {

class AddressRules {
 public:
  // Nothing special is allowed.
  AddressRules() = default;

  // `allowed`: special addresses that are allowed all the same, as "127.0.0.0/8" or "::1".
  // kInvalidArgument names the one that cannot be read.
  static absl::StatusOr<AddressRules> Parse(absl::Span<const std::string> allowed);

  // kPermissionDenied says what the address is. An IPv6 address that stands for an IPv4 address
  // (mapped, compatible, NAT64 under its well-known prefixes, 6to4) is checked as both.
  absl::Status Check(const IpAddress& address) const;

 private:
  struct Range {
    IpAddress first;
    int bits = 0;

    bool Has(const IpAddress& address) const;
  };
  struct SpecialRange {
    Range range;
    const char* what;
  };

  static std::vector<SpecialRange> MakeSpecial();
  static absl::StatusOr<Range> ParseRange(absl::string_view text);

  std::vector<Range> allowed_;
};

}  // namespace flyball::http
