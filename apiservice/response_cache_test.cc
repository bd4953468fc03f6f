#include "apiservice/response_cache.h"

#include <string>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace flyball::apiservice {
namespace {

std::shared_ptr<const CachedResponse> Body(size_t bytes) {
  auto response = std::make_shared<CachedResponse>();
  response->body = std::make_shared<const std::string>(bytes, 'x');
  return response;
}

TEST(ResponseCacheTest, GivesBackWhatWasPut) {
  ResponseCache cache(64, 1 << 20);
  cache.Put("a", Body(1));
  cache.Put("a", Body(2));
  ASSERT_NE(cache.Get("a"), nullptr);
  EXPECT_EQ(cache.Get("a")->body->size(), 2u);
  EXPECT_EQ(cache.Get("b"), nullptr);
}

TEST(ResponseCacheTest, ZeroEntriesKeepNothing) {
  ResponseCache cache(0, 1 << 20);
  cache.Put("a", Body(1));
  EXPECT_EQ(cache.Get("a"), nullptr);
}

TEST(ResponseCacheTest, NeverExceedsItsBytes) {
  constexpr size_t kLimit = 1 << 20;
  ResponseCache cache(100'000, kLimit);
  for (int i = 0; i < 1000; ++i) {
    cache.Put(absl::StrCat("key-", i), Body(10'000));
    ASSERT_LE(cache.bytes(), kLimit);
  }
  cache.Put("huge", Body(kLimit));
  EXPECT_EQ(cache.Get("huge"), nullptr);
  EXPECT_NE(cache.Get("key-999"), nullptr);
}

}  // namespace
}  // namespace flyball::apiservice
