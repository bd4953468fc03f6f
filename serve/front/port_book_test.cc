#include "serve/front/port_book.h"

#include <gtest/gtest.h>

#include <string>

namespace flyball::serve {
namespace {

constexpr MonotonicTime kNow = absl::Hours(5);

TEST(PortBookTest, GivesTheLowestThatIsFree) {
  PortBook book(20000, 20002);
  EXPECT_TRUE(book.Keep("b/web", 20001));
  EXPECT_EQ(*book.Take("a/web", kNow), 20000);
  EXPECT_EQ(*book.Take("b/web", kNow), 20001);
  EXPECT_EQ(*book.Take("c/web", kNow), 20002);
  EXPECT_EQ(*book.Take("a/web", kNow), 20000);
  EXPECT_EQ(book.Take("d/web", kNow).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(PortBookTest, NobodyHasTheSame) {
  PortBook book(20000, 20002);
  EXPECT_TRUE(book.Keep("shop/a", 20000));
  EXPECT_FALSE(book.Keep("shop/b", 20000));
  EXPECT_FALSE(book.Keep("shop/a", 20001));
  EXPECT_FALSE(book.Keep("shop/c", 19999));
  EXPECT_FALSE(book.Keep("shop/c", 20003));
}

TEST(PortBookTest, AFreedOneIsNobodysForAnHour) {
  PortBook book(20000, 20001);
  EXPECT_EQ(*book.Take("shop/a", kNow), 20000);
  book.Free("shop/a", kNow);
  EXPECT_EQ(*book.Take("shop/b", kNow), 20001);
  EXPECT_FALSE(book.Take("c/web", kNow + absl::Minutes(59)).ok());
  EXPECT_EQ(*book.Take("c/web", kNow + absl::Hours(1)), 20000);
}

TEST(PortBookTest, AnAvoidedOneIsGivenToNobodyButWhoHasIt) {
  PortBook book(20000, 20002);
  book.Avoid("shop", 20000, absl::ZeroDuration());
  book.Avoid("shop", 20001, kNow);
  book.Avoid("shop", 30000, kNow);
  EXPECT_EQ(book.HolderOf(20000), "");
  EXPECT_TRUE(book.Keep("shop/a", 20001));
  book.Avoid("shop", 20001, kNow);
  EXPECT_EQ(book.HolderOf(20001), "shop/a");
  EXPECT_EQ(*book.Take("b/web", absl::Minutes(59)), 20002);
  EXPECT_FALSE(book.Take("c/web", absl::Minutes(59)).ok());
  EXPECT_EQ(*book.Take("c/web", absl::Minutes(61)), 20000);
}

TEST(PortBookTest, WhoseServicesLeadToAllPortsTakesThemFromNobody) {
  PortBook book(20000, 20099);
  for (int tries = 0; tries < 2; ++tries) {
    for (uint16_t port = 20000; port < 20100; ++port) book.Avoid("bad", port, kNow);
  }
  EXPECT_EQ(*book.Take("shop/a", kNow), 20050);
  book.Avoid("shop", 20099, kNow);
  for (uint16_t port = 20051; port < 20099; ++port) {
    ASSERT_EQ(*book.Take("shop" + std::to_string(port) + "/a", kNow), port);
  }
  EXPECT_FALSE(book.Take("other/a", kNow).ok()) << "20099 is avoided";
  EXPECT_EQ(*book.Take("other/a", kNow + absl::Hours(1)), 20000);
}

TEST(PortBookTest, WhoMakesAndDeletesServicesUsesUpNobodysPorts) {
  PortBook book(20000, 20199);
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "bad/" + std::to_string(i);
    ASSERT_TRUE(book.Take(name, kNow).ok()) << name;
    book.Free(name, kNow);
  }
  const auto port = book.Take("shop/a", kNow);
  ASSERT_TRUE(port.ok()) << port.status();
  EXPECT_GE(*port, 20100);  // none that was freed a moment ago
}

TEST(PortBookTest, ANamespaceGetsNoMoreThanAreLeftForAll) {
  PortBook book(20000, 20099);
  const auto takes = [&book](const std::string& ns) {
    int taken = 0;
    while (book.Take(ns + "/" + std::to_string(taken), kNow).ok()) ++taken;
    return taken;
  };
  EXPECT_EQ(takes("bad"), 50);
  EXPECT_EQ(takes("worse"), 25);
  const absl::Status status = book.Take("bad/x", kNow).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "namespace bad has 50 of the ports from 20000 to 20099, and gets no more than are left "
            "for all: 25");
  EXPECT_TRUE(book.Take("shop/a", kNow).ok());
  EXPECT_TRUE(book.Take("bad/0", kNow).ok()) << "what it has it keeps";
  for (int i = 0; i < 30; ++i) book.Free("bad/" + std::to_string(i), kNow - absl::Hours(2));
  EXPECT_TRUE(book.Take("bad/x", kNow).ok()) << "what it has freed does not count";
}

// A restart takes none away.
TEST(PortBookTest, WhatANamespaceHadItKeepsBeyondItsShare) {
  PortBook book(20000, 20009);
  for (uint16_t i = 0; i < 8; ++i) {
    EXPECT_TRUE(book.Keep("shop/" + std::to_string(i), static_cast<uint16_t>(20000 + i)));
  }
  EXPECT_EQ(*book.Take("shop/7", kNow), 20007);
  EXPECT_FALSE(book.Take("shop/8", kNow).ok());
  EXPECT_EQ(*book.Take("other/web", kNow), 20008);
}

}  // namespace
}  // namespace flyball::serve
