#include "base/go/csv.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::go {
namespace {

using testing::ElementsAre;

// The answers of Go 1.22.
TEST(ReadCsvRecordTest, ReadsWhatGoReads) {
  EXPECT_THAT(*ReadCsvRecord("a"), ElementsAre("a"));
  EXPECT_THAT(*ReadCsvRecord("a,b c, d"), ElementsAre("a", "b c", " d"));
  EXPECT_THAT(*ReadCsvRecord(",a,"), ElementsAre("", "a", ""));
  EXPECT_THAT(*ReadCsvRecord(R"("a","b,c",d)"), ElementsAre("a", "b,c", "d"));
  EXPECT_THAT(*ReadCsvRecord(R"("","a""b","""")"), ElementsAre("", "a\"b", "\""));
  EXPECT_THAT(*ReadCsvRecord("\n\r\na,b\r\nc"), ElementsAre("a", "b")) << "the first record";
  EXPECT_THAT(*ReadCsvRecord("\"a\nb\",c"), ElementsAre("a\nb", "c"));
  EXPECT_THAT(*ReadCsvRecord("\"a\"\r"), ElementsAre("a"));
}

TEST(ReadCsvRecordTest, RefusesWhatGoRefuses) {
  for (const char* text : {"", "\n", "\"a", "a\"b", "\"a\"b", "a,\"b", "\"a\" ,b", "a,b\""}) {
    EXPECT_EQ(ReadCsvRecord(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace flyball::go
