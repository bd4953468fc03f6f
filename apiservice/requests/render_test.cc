#include "apiservice/requests/render.h"

#include <gtest/gtest.h>

namespace flyball::apiservice {
namespace {

TEST(RestyleTest, YamlOfWhatIsNotJsonIsEmpty) {
  Style style;
  style.media.encoding = Encoding::kYaml;
  EXPECT_EQ(Restyle("{\"a\":1}", style), "a: 1\n");
  EXPECT_EQ(Restyle("{", style), "");
}

}  // namespace
}  // namespace flyball::apiservice
