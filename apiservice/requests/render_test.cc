#include "apiservice/requests/render.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace flyball::apiservice {
namespace {

TEST(RestyleTest, YamlOfWhatIsNotJsonIsEmpty) {
  Style style;
  style.media.encoding = Encoding::kYaml;
  EXPECT_EQ(Restyle("{\"a\":1}", style), "a: 1\n");
  EXPECT_EQ(Restyle("{", style), "");
}

// It counts as long as it is, and may be kept for long.
TEST(OkTest, WhatIsCompressedTakesNoMoreThanItsLength) {
  Style style;
  style.gzip = true;
  const http::HttpResponse response =
      Ok("application/json", std::make_shared<const std::string>(1 << 20, 'x'), style);
  EXPECT_EQ(http::FindHeader(response.headers, "Content-Encoding"), "gzip");
  EXPECT_LT(response.body->capacity(), 16u << 10);
}

}  // namespace
}  // namespace flyball::apiservice
