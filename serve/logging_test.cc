#include "serve/logging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <functional>
#include <memory>
#include <string>

namespace flyball::serve {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;

class LoggingTest : public testing::Test {
 protected:
  // What is written meanwhile.
  std::string Written(const std::string& format, const std::function<void()>& meanwhile) {
    testing::internal::CaptureStderr();
    SetUpLogging(format, 0);
    meanwhile();
    std::string written = testing::internal::GetCapturedStderr();
    spdlog::set_default_logger(before_);
    return written;
  }
  std::string Logged(const std::string& format, const std::string& message) {
    return Written(format, [&] { spdlog::error("{}", message); });
  }

 private:
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

TEST_F(LoggingTest, AMessageIsOneLine) {
  EXPECT_THAT(Logged("text", "got x\n2026-11-28T05:20:00.000Z critical forged \x1b[31m\tred\r"),
              MatchesRegex("[0-9T:.-]+Z error got x\\\\n2026-11-28T05:20:00.000Z critical forged "
                           "\\\\x1b\\[31m\\\\x09red\\\\x0d\n"));
  EXPECT_THAT(Logged("text", "C1: \xc2\x9b, letters: \xc3\xa4\xc2\xa7"),
              EndsWith("C1: \\xc2\\x9b, letters: \xc3\xa4\xc2\xa7\n"));
  EXPECT_THAT(Logged("json", "a\nb"), EndsWith("\"level\":\"error\",\"msg\":\"a\\nb\"}\n"));
}

TEST_F(LoggingTest, AMessageHasALimit) {
  for (const char* format : {"text", "json"}) {
    const std::string written = Logged(format, std::string(300'000, 'x'));
    EXPECT_LT(written.size(), 17'000u) << format;
    EXPECT_THAT(written, HasSubstr("x... and 283616 bytes more")) << format;
  }
}

TEST_F(LoggingTest, ALineOfAListIsAMessage) {
  EXPECT_THAT(Written("text", [] { LogErrorLines("file: refused:\n3:1: one\n4:1: two"); }),
              MatchesRegex("[^\n]+Z error file: refused:\n[^\n]+Z error 3:1: one\n"
                           "[^\n]+Z error 4:1: two\n"));
}

}  // namespace
}  // namespace flyball::serve
