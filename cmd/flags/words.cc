#include "cmd/flags/words.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kube/objects/yaml_text.h"
#include "serve/completion.h"

namespace flyball::cmd {
namespace {

// The edit distance: how many letters have to be inserted, removed or changed.
size_t Slips(absl::string_view from, absl::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < from.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < to.size(); ++j) {
      const size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// "flyball check rules".
std::string FullName(const CLI::App& app) {
  const CLI::App* above = app.get_parent();
  return above == nullptr ? app.get_name() : absl::StrCat(FullName(*above), " ", app.get_name());
}

std::vector<std::string> WordsOf(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* below : app.get_subcommands({})) words.push_back(below->get_name());
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
  return words;
}

// What is wrong, in one line. An unknown word is named before anything that is missing.
std::string Complaint(const CLI::App& app, const Args& args, const CLI::ParseError& error) {
  const CLI::App& inner = serve::Innermost(app, args);
  const std::vector<std::string> left = app.remaining(true);
  const auto unknown =
      absl::c_find_if(args, [&](const auto& word) { return absl::c_linear_search(left, word); });
  if (unknown == args.end()) {
    const std::string what = error.what();
    return absl::StrCat(FullName(inner), ": ",
                        what == "--filename is required" ? "FILE is required" : what);
  }
  const std::string word = unknown->substr(0, unknown->find('='));
  const std::string nearest = Nearest(word, WordsOf(inner));
  return absl::StrCat(FullName(inner), ": unknown ", absl::StartsWith(word, "-") ? "flag " : "",
                      "\"", word, "\"",
                      nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?"));
}

}  // namespace

std::string Nearest(absl::string_view word, const std::vector<std::string>& candidates) {
  std::string nearest;
  size_t fewest = word.size() < 3 ? 1 : word.size() < 4 ? 2 : 3;  // the distance must be smaller
  for (const std::string& candidate : candidates) {
    const bool begins = word.size() >= 3 && absl::StartsWith(candidate, word);
    const size_t slips = begins ? 1 : Slips(word, candidate);
    if (slips >= fewest) continue;
    fewest = slips;
    nearest = candidate;
  }
  return nearest;
}

std::optional<int> Parse(CLI::App& app, const Args& args) {
  if (const auto listed = serve::ListedWords(app, args)) {
    std::fputs(listed->c_str(), stdout);
    return 0;
  }
  try {
    app.parse(Args(args.rbegin(), args.rend()));  // CLI11 takes words last first
    return std::nullopt;
  } catch (const CLI::Success& wanted) {  // --help
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "%s\n`%s --help` tells more.\n", Complaint(app, args, error).c_str(),
                 FullName(serve::Innermost(app, args)).c_str());
    return kUsageError;
  }
}

int Print(absl::string_view text) {
  std::cout << text << std::flush;
  return std::cout.good() ? 0 : 1;
}

int Fail(absl::string_view command, const absl::Status& why) {
  std::cerr << "flyball " << command << ": " << why.message() << "\n";
  return absl::IsInvalidArgument(why) ? kUsageError : 1;
}

std::string ExitStatuses(absl::string_view one) {
  return absl::StrCat("Exit status: 0 if all is well, 1 if ", one,
                      ", 2 for a wrong command line or input that cannot be read.");
}

void AddFiles(CLI::App& app, std::vector<std::string>& files, const std::string& help) {
  app.add_option("FILE,-f,--filename", files, help)->required()->type_name("FILE|-");
}

std::string JsonAs(absl::string_view output, std::string json) {
  using Json = nlohmann::ordered_json;
  const Json document = Json::parse(json, nullptr, false);
  if (document.is_discarded()) return json;
  if (output == "yaml") return kube::YamlOf(document);
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void AddWord(CLI::App& app, const std::string& flag, std::string& value,
             const std::vector<std::string>& allowed, const std::string& help) {
  app.add_option_function<std::string>(
         flag,
         [flag, allowed, &value](const std::string& given) {
           const auto found = absl::c_find_if(allowed, [&](const std::string& word) {
             return absl::EqualsIgnoreCase(word, given);
           });
           if (found == allowed.end()) {
             throw CLI::ValidationError(
                 flag, absl::StrCat("expected ", absl::StrJoin(allowed, ", "), ", got ", given));
           }
           value = *found;
         },
         help)
      ->type_name(absl::StrJoin(allowed, "|"));
}

void AddOutput(CLI::App& app, std::string& value, const std::vector<std::string>& allowed) {
  AddWord(app, "-o,--output", value, allowed, absl::StrCat(allowed[0], " by default"));
}

}  // namespace flyball::cmd
