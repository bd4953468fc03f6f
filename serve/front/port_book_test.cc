#include "serve/front/port_book.h"

#include <gtest/gtest.h>

#include <string>

namespace flyball::serve {
namespace {

constexpr MonotonicTime kNow = absl::Hours(5);

TEST(PortBookTest, GivesTheLowestThatIsFree) {
  PortBook book(20000, 20002);
  EXPECT_TRUE(book.Keep("shop/b", 20001));
  EXPECT_EQ(*book.Take("shop/a", kNow), 20000);
  EXPECT_EQ(*book.Take("shop/b", kNow), 20001);
  EXPECT_EQ(*book.Take("shop/c", kNow), 20002);
  EXPECT_EQ(*book.Take("shop/a", kNow), 20000);
  EXPECT_EQ(book.Take("shop/d", kNow).status().code(), absl::StatusCode::kResourceExhausted);
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
  EXPECT_FALSE(book.Take("shop/c", kNow + absl::Minutes(59)).ok());
  EXPECT_EQ(*book.Take("shop/c", kNow + absl::Hours(1)), 20000);
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

}  // namespace
}  // namespace flyball::serve
