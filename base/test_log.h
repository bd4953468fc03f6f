// Records what is logged while it exists. For tests: no other thread may log during construction,
// destruction and Count.
#pragma once

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <cstddef>
#include <memory>
#include <sstream>
#include <string>

namespace flyball {

class TestLog {
 public:
  TestLog() {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_)));
  }
  ~TestLog() { spdlog::set_default_logger(before_); }
  TestLog(const TestLog&) = delete;
  TestLog& operator=(const TestLog&) = delete;

  std::string text() const { return text_.str(); }
  void Clear() { text_.str(""); }
  // The number of lines with that text.
  size_t Count(const std::string& what) const {
    const std::string text = text_.str();
    size_t count = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
      ++count;
    }
    return count;
  }

 private:
  const std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
  std::ostringstream text_;
};

}  // namespace flyball
