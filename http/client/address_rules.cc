#include "http/client/address_rules.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace flyball::http {
namespace {

bool StartsWith(const IpAddress& address, std::initializer_list<uint8_t> bytes) {
  return !address.v4 && std::equal(bytes.begin(), bytes.end(), address.bytes.begin());
}

// The IPv4 addresses that an IPv6 address may lead to.
absl::InlinedVector<IpAddress, 2> InnerV4(const IpAddress& address) {
  const uint8_t* bytes = address.bytes.data();
  const bool compatible = StartsWith(address, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  const bool nat64 = StartsWith(address, {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0});
  if (address.IsMapped() || compatible || nat64) return {IpAddress::V4(bytes + 12)};
  if (StartsWith(address, {0, 0x64, 0xff, 0x9b, 0, 1})) {
    // The local prefix of NAT64 may be used as a whole, or a part of 96 bits (RFC 6052, 2.2).
    const uint8_t of_the_whole[] = {bytes[6], bytes[7], bytes[9], bytes[10]};
    const bool is_of_a_part = std::any_of(bytes + 12, bytes + 16, [](uint8_t b) { return b != 0; });
    if (!is_of_a_part) return {IpAddress::V4(of_the_whole)};
    if (bytes[6] == 0 && bytes[7] == 0) return {IpAddress::V4(bytes + 12)};
    return {IpAddress::V4(bytes + 12), IpAddress::V4(of_the_whole)};
  }
  if (StartsWith(address, {0x20, 0x02})) return {IpAddress::V4(bytes + 2)};  // 6to4
  return {};
}

}  // namespace

bool AddressRules::Range::Has(const IpAddress& address) const {
  if (address.v4 != first.v4) return false;
  const int whole = bits / 8;
  if (!std::equal(first.bytes.begin(), first.bytes.begin() + whole, address.bytes.begin())) {
    return false;
  }
  if (bits % 8 == 0) return true;
  const int shift = 8 - bits % 8;
  const auto at = static_cast<size_t>(whole);
  return first.bytes[at] >> shift == address.bytes[at] >> shift;
}

absl::StatusOr<AddressRules::Range> AddressRules::ParseRange(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('/', 1));
  const std::optional<IpAddress> first = IpAddress::Parse(parts.first);
  Range range;
  if (first.has_value()) {
    range = {.first = *first, .bits = first->v4 ? 32 : 128};
    const int most = range.bits;
    const bool has_bits = parts.first.size() < text.size();
    if (!has_bits ||
        (absl::SimpleAtoi(parts.second, &range.bits) && range.bits >= 0 && range.bits <= most)) {
      return range;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("expected an address or a range like 10.0.0.0/8, got \"", text, "\""));
}

std::vector<AddressRules::SpecialRange> AddressRules::MakeSpecial() {
  static constexpr std::pair<const char*, const char*> kRanges[] = {
      {"0.0.0.0/8", "an unspecified address"},
      {"127.0.0.0/8", "a loopback address"},
      {"169.254.0.0/16", "a link-local address"},
      {"224.0.0.0/4", "a multicast address"},
      {"255.255.255.255", "the broadcast address"},
      {"100.100.100.200", "a cloud's metadata server"},  // Alibaba
      {"168.63.129.16", "a cloud's metadata server"},    // Azure
      {"192.0.0.192", "a cloud's metadata server"},      // Oracle
      {"::", "an unspecified address"},
      {"::1", "a loopback address"},
      {"fe80::/10", "a link-local address"},
      {"ff00::/8", "a multicast address"},
      {"fd00:ec2::/32", "a cloud's metadata server"},       // Amazon
      {"fd20:ce::254", "a cloud's metadata server"},        // Google
      {"fd00:c1::a9fe:a9fe", "a cloud's metadata server"},  // Oracle
      {"fd00:42::42", "a cloud's metadata server"},         // Scaleway
  };
  std::vector<SpecialRange> out;
  for (const auto& [text, what] : kRanges) out.push_back({*ParseRange(text), what});
  return out;
}

absl::StatusOr<AddressRules> AddressRules::Parse(absl::Span<const std::string> allowed) {
  AddressRules rules;
  for (const std::string& text : allowed) {
    ASSIGN_OR_RETURN(Range range, ParseRange(text));
    rules.allowed_.push_back(std::move(range));
  }
  return rules;
}

absl::Status AddressRules::Check(const IpAddress& address) const {
  static const std::vector<SpecialRange> special = MakeSpecial();
  const auto has = [&](const Range& range) { return range.Has(address); };
  if (std::any_of(allowed_.begin(), allowed_.end(), has)) return absl::OkStatus();
  for (const auto& [range, what] : special) {
    if (!range.Has(address)) continue;
    return absl::PermissionDeniedError(absl::StrCat(address.ToString(), " is ", what));
  }
  for (const IpAddress& inner : InnerV4(address)) RETURN_IF_ERROR(Check(inner));
  return absl::OkStatus();
}

}  // namespace flyball::http
