#include "serve/go_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <climits>
#include <functional>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/go/csv.h"
#include "base/go/duration.h"
#include "base/go/number.h"

namespace flyball::serve {
namespace {

std::string Dashed(const char* name) { return absl::StrCat("--", name); }

std::string WithDefault(const char* help, const std::string& value) {
  return value.empty() ? help : absl::StrCat(help, " (default ", value, ")");
}

// Takes each occurrence, so that all of them are checked; the last one stands.
CLI::Option* AddEach(CLI::App& app, const char* name, const std::string& help,
                     std::function<absl::Status(const std::string&)> take) {
  const auto read = [name, take = std::move(take)](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      const absl::Status taken = take(text);
      if (!taken.ok()) throw CLI::ValidationError(Dashed(name), std::string(taken.message()));
    }
  };
  return app.add_option_function<std::vector<std::string>>(Dashed(name), read, help)
      ->allow_extra_args(false)
      ->take_all();
}

}  // namespace

void GoFlags::String(const char* name, std::string& value, const char* help, const char* type) {
  app_.add_option(Dashed(name), value, WithDefault(help, value))
      ->take_last()
      ->type_name(type)
      ->group(group_);
}

void GoFlags::Int(const char* name, int& value, const char* help) {
  const auto read = [&value](const std::string& text) {
    const std::optional<int64_t> number = go::ParseInt(text);
    if (!number) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", text, "\" is not a whole number of 64 bits"));
    }
    value = static_cast<int>(std::clamp<int64_t>(*number, INT_MIN, INT_MAX));
    return absl::OkStatus();
  };
  AddEach(app_, name, absl::StrCat(help, " (default ", value, ")"), read)
      ->type_name("INT")
      ->option_text("INT")
      ->group(group_);
}

void GoFlags::Float(const char* name, double& value, const char* help) {
  app_.add_option(Dashed(name), value, absl::StrCat(help, " (default ", value, ")"))
      ->take_last()
      ->type_name("NUMBER")
      ->group(group_);
}

void GoFlags::Bool(const char* name, bool& value, const char* help) {
  app_.add_flag(Dashed(name), value, WithDefault(help, value ? "true" : ""))
      ->take_last()
      ->group(group_);
}

void GoFlags::Duration(const char* name, absl::Duration& value, const char* help) {
  AddEach(
      app_, name, absl::StrCat(help, " (default ", absl::FormatDuration(value), ")"),
      [&value](const std::string& text) {
        const absl::StatusOr<absl::Duration> parsed = go::ParseDuration(text);
        if (!parsed.ok()) {
          return absl::InvalidArgumentError(absl::StrCat(
              "\"", text, "\" is not a duration; expected a number with a unit, as 90s or 1h30m"));
        }
        value = *parsed;
        return absl::OkStatus();
      })
      ->type_name("DURATION")
      ->option_text("DURATION")  // without "...", which would say that several count
      ->group(group_);
}

void GoFlags::FileLevels(const char* name, const char* help) {
  AddEach(app_, name, help, CheckFileLevels)->group(group_);
}

void GoFlags::Repeated(const char* name, std::vector<std::string>& value, const char* help,
                       const char* type) {
  app_.add_option(Dashed(name), value, help)
      ->allow_extra_args(false)
      ->take_all()
      ->type_name(type)
      ->group(group_);
}

void GoFlags::List(const char* name, std::vector<std::string>& value, const char* help) {
  const auto read = [&value, given = false](const std::string& text) mutable -> absl::Status {
    if (!std::exchange(given, true)) value.clear();
    if (text.empty()) return absl::OkStatus();
    absl::StatusOr<std::vector<std::string>> list = go::ReadCsvRecord(text);
    if (!list.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", text, "\" is not a list: ", list.status().message()));
    }
    absl::c_move(*list, std::back_inserter(value));
    return absl::OkStatus();
  };
  AddEach(app_, name, help, read)->type_name("TEXT,…")->group(group_);
}

std::vector<std::string> GoWords(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") {
      out.insert(out.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      break;
    }
    std::string word = words[i];
    if (absl::StartsWith(word, "-v=")) word.insert(0, 1, '-');
    const bool empty_value = absl::EndsWith(word, "=");
    if (empty_value) word.pop_back();
    const CLI::Option* const option =
        absl::StartsWith(word, "-") ? app.get_option_no_throw(word) : nullptr;
    // Not its type's size, which is that of a word for flags without a value as well.
    const bool takes_value = option != nullptr && option->get_items_expected_max() > 0;
    if (empty_value && !takes_value) word.push_back('=');
    out.push_back(std::move(word));
    if (!takes_value) continue;
    if (empty_value) {
      out.emplace_back();
    } else if (i + 1 < words.size()) {
      out.push_back(words[++i]);
    }
  }
  return out;
}

absl::Status FirstRefused(std::initializer_list<RefusedFlag> checks) {
  for (const RefusedFlag& check : checks) {
    if (check.refused) return absl::FailedPreconditionError(check.text);
  }
  return absl::OkStatus();
}

absl::Status CheckFileLevels(absl::string_view text) {
  const auto refused = [text](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\": ", why));
  };
  for (const absl::string_view entry : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::vector<absl::string_view> parts = absl::StrSplit(entry, '=');
    // Neither base nor underscores, which go::ParseInt takes.
    absl::string_view digits = parts.back();
    const bool negative = absl::ConsumePrefix(&digits, "-");
    if (!negative) absl::ConsumePrefix(&digits, "+");
    int32_t level = 0;
    if (parts.size() != 2 || parts[0].empty() ||
        digits.find_first_not_of("0123456789") != absl::string_view::npos ||
        !absl::SimpleAtoi(digits, &level)) {
      return refused("syntax error: expect comma-separated list of filename=N");
    }
    if (negative && level > 0) return refused("negative value for vmodule level");
  }
  return absl::OkStatus();
}

}  // namespace flyball::serve
