#include "serve/logging.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/one_line.h"

namespace flyball::serve {
namespace {

// Messages contain text from others, for example annotations of 256 KiB.
constexpr size_t kMaxMessageBytes = 16 << 10;

std::string Cut(const spdlog::details::log_msg& message) {
  std::string text(message.payload.data(), std::min(message.payload.size(), kMaxMessageBytes));
  const size_t rest = message.payload.size() - text.size();
  if (rest > 0) absl::StrAppend(&text, "... and ", rest, " bytes more");
  return text;
}

// The message in one line, whatever it holds.
class OneLineMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    const std::string line = OneLine(Cut(message));
    out.append(line.data(), line.data() + line.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<OneLineMessage>();
  }
};

// The message as a JSON string, so that a line is always one JSON object.
class JsonMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    const nlohmann::json text = Cut(message);
    const std::string quoted = text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    out.append(quoted.data(), quoted.data() + quoted.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<JsonMessage>();
  }
};

}  // namespace

void SetUpLogging(const std::string& format, int verbosity) {
  auto logger = std::make_shared<spdlog::logger>("flyball",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  if (format == "json") {
    formatter->add_flag<JsonMessage>('*').set_pattern(
        R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","msg":%*})");
  } else {
    formatter->add_flag<OneLineMessage>('*').set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %*");
  }
  logger->set_formatter(std::move(formatter));
  logger->set_level(verbosity >= kLogQueries    ? spdlog::level::trace
                    : verbosity >= kLogRequests ? spdlog::level::debug
                                                : spdlog::level::info);
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

std::string ProblemLines(std::vector<std::string> problems) {
  // Of a file that is something else altogether each line is wrong. /readyz?verbose repeats them.
  constexpr size_t kMostProblems = 20;
  if (problems.size() > kMostProblems) {
    const size_t more = problems.size() - kMostProblems;
    problems.resize(kMostProblems);
    problems.push_back(absl::StrCat("... and ", more, " more"));
  }
  return absl::StrJoin(problems, "\n");
}

void LogErrorLines(absl::string_view text) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    spdlog::error("{}", std::string(line));
  }
}

}  // namespace flyball::serve
