#include "http/client/address_rules.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::http {
namespace {

using testing::HasSubstr;

absl::Status Check(const AddressRules& rules, const std::string& address) {
  return rules.Check(*IpAddress::Parse(address));
}

TEST(AddressRulesTest, OrdinaryAddressesAreAllowed) {
  for (const char* address : {"10.0.0.1", "192.168.1.1", "172.16.0.1", "8.8.8.8", "126.255.255.255",
                              "128.0.0.1", "169.253.255.255", "169.255.0.0", "223.255.255.255",
                              "100.100.100.199", "fd00::1", "2001:db8::1", "fec0::1", "fd00:ec1::1",
                              "64:ff9b::10.0.0.1", "::ffff:10.0.0.1", "2002:a00:1::"}) {
    EXPECT_TRUE(Check({}, address).ok()) << address;
  }
}

struct AddressRulesRow {
  std::string address, what;
};

class SpecialAddressTest : public testing::TestWithParam<AddressRulesRow> {};

TEST_P(SpecialAddressTest, IsRefused) {
  const absl::Status status = Check({}, GetParam().address);
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << GetParam().address;
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().what));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, SpecialAddressTest,
    testing::Values(
        AddressRulesRow{"0.0.0.0", "unspecified"}, AddressRulesRow{"0.1.2.3", "unspecified"},
        AddressRulesRow{"127.0.0.1", "loopback"}, AddressRulesRow{"127.255.255.255", "loopback"},
        AddressRulesRow{"169.254.0.0", "link-local"},
        AddressRulesRow{"169.254.169.254", "link-local"}, AddressRulesRow{"224.0.0.1", "multicast"},
        AddressRulesRow{"239.255.255.255", "multicast"},
        AddressRulesRow{"255.255.255.255", "broadcast"},
        AddressRulesRow{"100.100.100.200", "metadata"},
        AddressRulesRow{"168.63.129.16", "metadata"}, AddressRulesRow{"::", "unspecified"},
        AddressRulesRow{"::1", "loopback"}, AddressRulesRow{"fe80::1", "link-local"},
        AddressRulesRow{"febf::1", "link-local"}, AddressRulesRow{"ff02::1", "multicast"},
        AddressRulesRow{"fd00:ec2::254", "metadata"}, AddressRulesRow{"fd20:ce::254", "metadata"},
        // The same as IPv6.
        AddressRulesRow{"::ffff:127.0.0.1", "127.0.0.1 is a loopback"},
        AddressRulesRow{"::ffff:169.254.169.254", "169.254.169.254 is a link-local"},
        AddressRulesRow{"::127.0.0.1", "loopback"},
        AddressRulesRow{"64:ff9b::169.254.169.254", "link-local"},
        AddressRulesRow{"64:ff9b:1::7f00:1", "loopback"},
        AddressRulesRow{"64:ff9b:1:a9fe:a9:fe00:0:0", "link-local"},
        AddressRulesRow{"64:ff9b:1:7f00:0:100:0:0", "loopback"},
        AddressRulesRow{"2002:7f00:1::", "loopback"}));

TEST(AddressRulesTest, WhatIsNamedIsAllowed) {
  const auto rules = AddressRules::Parse({"127.0.0.0/8", "fe80::/10", "169.254.169.254"});
  ASSERT_TRUE(rules.ok()) << rules.status();
  EXPECT_TRUE(Check(*rules, "127.0.0.2").ok());
  EXPECT_TRUE(Check(*rules, "::ffff:127.0.0.2").ok());
  EXPECT_TRUE(Check(*rules, "169.254.169.254").ok());
  EXPECT_TRUE(Check(*rules, "fe80::5").ok());
  EXPECT_FALSE(Check(*rules, "169.254.169.253").ok());
  EXPECT_FALSE(Check(*rules, "::1").ok());
  EXPECT_TRUE(Check(*AddressRules::Parse({"0.0.0.0/0", "::/0"}), "127.0.0.1").ok());
}

TEST(AddressRulesTest, WhatIsNoRangeIsNamed) {
  for (const char* text : {"", "localhost", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "::/129",
                           "10.0.0/8", "10.0.0.0/8/8"}) {
    const auto rules = AddressRules::Parse({text});
    EXPECT_EQ(rules.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(rules.status().message()), HasSubstr(text));
  }
}

}  // namespace
}  // namespace flyball::http
