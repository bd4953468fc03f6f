#include "serve/front/port_book.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace flyball::serve
