#include "cmd/flags/words.h"
#include "cmd/flyball/commands.h"

#include <CLI/CLI.hpp>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "serve/completion.h"

namespace flyball::cmd {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Nearest, IsASlipOrTwoAway) {
  const std::vector<std::string> words = {"check", "doctor", "decide", "rules", "--namespace"};
  EXPECT_EQ(Nearest("docter", words), "doctor");
  EXPECT_EQ(Nearest("rule", words), "rules");
  EXPECT_EQ(Nearest("chekc", words), "check");
  EXPECT_EQ(Nearest("--namspace", words), "--namespace");
  EXPECT_EQ(Nearest("doc", words), "doctor") << "its beginning";
  EXPECT_EQ(Nearest("banana", words), "");
  EXPECT_EQ(Nearest("x", words), "");
}

// The program's error message for these words, and its exit status.
std::pair<int, std::string> Complaint(std::vector<std::string> words) {
  words.insert(words.begin(), "flyball");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const int status = Main(static_cast<int>(argv.size()), argv.data());
  return {status, testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr()};
}

TEST(Main, NamesTheUnknownWordAndTheOneThatWasMeant) {
  const auto expect = [](const std::vector<std::string>& words, const std::string& part) {
    const auto [status, text] = Complaint(words);
    EXPECT_EQ(status, 2) << text;
    EXPECT_THAT(text, HasSubstr(part));
  };
  expect({"docter", "--help"}, "flyball: unknown command \"docter\"; did you mean doctor?");
  expect({"docter", "hpa/web", "--context=x"}, "did you mean doctor?");
  expect({"check", "rule", "x"}, "flyball check: unknown \"rule\"; did you mean rules?");
  expect({"check", "rules", "--strickt", "x"},
         "flyball check rules: unknown flag \"--strickt\"; did you mean --strict?");
  expect({"explain", "hpa/web", "-l", "x"}, "flyball explain: unknown flag \"-l\"");
  expect({"check", "rules"}, "flyball check rules: FILE is required");
  expect({"decide", "--vectors", "/dev/null"}, "flyball decide: /dev/null has no scenario");
  expect({"decide", "--vectors", "/"}, "flyball decide: cannot read /");
  expect({"convert", "hpa", "x", "--mode", "sideways"},
         "expected Shadow, Advise, Act, got sideways");
}

TEST(Main, TellsItsVersion) {
  const auto [status, text] = Complaint({"--version"});
  EXPECT_EQ(status, 0);
  EXPECT_THAT(text, HasSubstr("flyball " FLYBALL_VERSION));
  EXPECT_THAT(text, HasSubstr("OpenSSL 3"));
}

TEST(Main, ListsTheWordsThatMayFollow) {
  EXPECT_THAT(Complaint({"__words"}).second, HasSubstr("doctor\n"));
  EXPECT_THAT(Complaint({"__words", "check"}).second, HasSubstr("rules\n"));
  EXPECT_THAT(Complaint({"__words", "check", "rules"}).second, HasSubstr("--strict\n"));
  EXPECT_THAT(Complaint({"__words", "doctor", "hpa/web"}).second, HasSubstr("--context\n"));
  const std::string serve = Complaint({"__words", "serve"}).second;
  EXPECT_THAT(serve, HasSubstr("--prometheus-url\n"));
  EXPECT_THAT(serve, Not(HasSubstr("--audit-log-path"))) << "without effect";
}

TEST(Main, EachShellHasACompletion) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto [status, text] = Complaint({"completion", shell});
    EXPECT_EQ(status, 0);
    EXPECT_THAT(text, HasSubstr("__words"));
  }
}

TEST(Main, HelpOfServeHasGroupsAndLeavesOutWhatHasNoEffect) {
  const std::string help = Complaint({"serve", "--help"}).second;
  EXPECT_THAT(help, HasSubstr("Rules and Prometheus:"));
  EXPECT_THAT(help, HasSubstr("--metrics-relist-interval DURATION"));
  EXPECT_THAT(help, HasSubstr("where the answers are the same (default true)"));
  EXPECT_THAT(help, HasSubstr("--metric-source prometheus|live|prometheus+live"));
  EXPECT_THAT(help, Not(HasSubstr("DURATION ..."))) << "one counts";
  EXPECT_THAT(help, Not(HasSubstr("INT ...")));
  EXPECT_THAT(help, Not(HasSubstr("--audit-log-path")));
  EXPECT_THAT(Complaint({"serve", "--help-all"}).second, HasSubstr("--audit-log-path"));
}

TEST(AddWord, TakesAnyCase) {
  CLI::App app("", "test");
  std::string value;
  AddWord(app, "--mode", value, {"Shadow", "Act"}, "");
  EXPECT_EQ(Parse(app, {"--mode", "ACT"}), std::nullopt);
  EXPECT_EQ(value, "Act");
}

TEST(JsonAs, WritesYamlWhereItIsWanted) {
  EXPECT_EQ(JsonAs("yaml", R"({"b": [1], "a": "yes"})"), "b:\n  - 1\na: \"yes\"\n");
  EXPECT_EQ(JsonAs("json", R"({"b":[1]})"), "{\n  \"b\": [\n    1\n  ]\n}\n");
  EXPECT_EQ(JsonAs("yaml", "no JSON"), "no JSON");
}

}  // namespace
}  // namespace flyball::cmd
