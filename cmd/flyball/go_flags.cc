#include "cmd/flyball/go_flags.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"

namespace flyball::cmd {
namespace {

std::string Dashed(const char* name) { return absl::StrCat("--", name); }

}  // namespace

void GoFlags::String(const char* name, std::string& value, const char* help) {
  app_.add_option(Dashed(name), value, help)->take_last();
}

void GoFlags::Int(const char* name, int& value, const char* help) {
  app_.add_option(Dashed(name), value, help)->take_last();
}

void GoFlags::Float(const char* name, double& value, const char* help) {
  app_.add_option(Dashed(name), value, absl::StrCat(help, " (default ", value, ")"))->take_last();
}

void GoFlags::Bool(const char* name, bool& value, const char* help) {
  app_.add_flag(Dashed(name), value, help)->take_last();
}

void GoFlags::Duration(const char* name, absl::Duration& value, const char* help) {
  app_.add_option_function<std::string>(
          Dashed(name),
          [&value, name](const std::string& text) {
            auto parsed = ParseGoDuration(text);
            if (!parsed.ok()) {
              throw CLI::ValidationError(Dashed(name), std::string(parsed.status().message()));
            }
            value = *parsed;
          },
          absl::StrCat(help, " (default ", absl::FormatDuration(value), ")"))
      ->take_last();
}

void GoFlags::Repeated(const char* name, std::vector<std::string>& value, const char* help) {
  app_.add_option(Dashed(name), value, help)->allow_extra_args(false)->take_all();
}

void GoFlags::List(const char* name, std::vector<std::string>& value, const char* help) {
  app_.add_option(Dashed(name), value, help)->allow_extra_args(false)->delimiter(',')->take_all();
}

absl::StatusOr<absl::Duration> ParseGoDuration(const std::string& text) {
  absl::Duration duration;
  if (!absl::ParseDuration(text, &duration) || duration == absl::InfiniteDuration() ||
      duration == -absl::InfiniteDuration()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", text, "\" is not a duration; expected a number with a unit, as 90s or 1h30m"));
  }
  return duration;
}

}  // namespace flyball::cmd
