#include "processes/process_set_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace flyball::processes {
namespace {

using testing::HasSubstr;

absl::StatusOr<ProcessSetSpec> Read(const std::string& spec) {
  const auto node = scaler::ParseOneObject(absl::StrCat(
      "apiVersion: flyball.dev/v1alpha1\nkind: ProcessSet\nmetadata: {name: worker}\nspec: ",
      spec));
  return node.ok() ? ReadProcessSet(*node) : node.status();
}

TEST(ProcessSetSpec, EveryFieldIsRead) {
  const auto spec = Read(
      "{replicas: 3, command: [serve, --port, $(PORT)], env: {QUEUE: jobs}, workingDirectory: "
      "/srv, "
      "labels: {app: web}, port: 9100, metricsPath: /metrics, readiness: {http: /ready}, "
      "gracePeriod: 1m30s}");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->ns, "default");
  EXPECT_EQ(spec->name, "worker");
  EXPECT_EQ(spec->replicas, 3);
  EXPECT_EQ(spec->command, (std::vector<std::string>{"serve", "--port", "$(PORT)"}));
  EXPECT_EQ(spec->env.at("QUEUE"), "jobs");
  EXPECT_EQ(spec->working_directory, "/srv");
  EXPECT_EQ(spec->labels.at("app"), "web");
  EXPECT_EQ(spec->port, 9100);
  EXPECT_EQ(spec->metrics_path, "/metrics");
  EXPECT_EQ(spec->readiness, (Readiness{Readiness::Check::kHttp, "/ready"}));
  EXPECT_EQ(spec->grace_period, absl::Seconds(90));
}

TEST(ProcessSetSpec, MostHasADefault) {
  const auto spec = Read("{command: [serve]}");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->replicas, 1);
  EXPECT_EQ(spec->labels, (std::map<std::string, std::string>{{"app", "worker"}}));
  EXPECT_EQ(spec->readiness.check, Readiness::Check::kNone);
  EXPECT_EQ(spec->grace_period, absl::Seconds(30));
}

TEST(ProcessSetSpec, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> kRows[] = {
      {"{replicas: 2}", "spec.command is needed"},
      {"{command: serve}", "spec.command: a list of words was expected"},
      {"{command: []}", "spec.command: a list of words was expected"},
      {"{command: [1]}", "spec.command: a string was expected"},
      {"{command: [s], replicas: -1}", "spec.replicas: a whole number from 0 to 1000"},
      {"{command: [s], replicas: 1001}", "spec.replicas: a whole number from 0 to 1000"},
      {"{command: [s], env: {A=B: c}}", "spec.env: a name is empty or contains ="},
      {"{command: [s], port: 65000}", "spec.port: a whole number"},
      {"{command: [s], readiness: {tcp: true}}", "spec.port: readiness and metricsPath need it"},
      {"{command: [s], port: 1, readiness: {tcp: false}}", "either {http: PATH} or {tcp: true}"},
      {"{command: [s], port: 1, readiness: {http: ready}}", "spec.readiness.http: a path"},
      {"{command: [s], gracePeriod: 2h}", "spec.gracePeriod: a duration from 0s to 1h"},
      {"{command: [s], shell: true}", "spec.shell: there is no such field"},
  };
  for (const auto& [spec, what] : kRows) {
    EXPECT_THAT(std::string(Read(spec).status().message()), HasSubstr(what)) << spec;
  }
}

TEST(ProcessSetSpec, AReplicaHasItsNameItsIndexAndItsPort) {
  const auto spec = Read("{command: [serve], port: 9100, env: {URL: 'http://h:$(PORT)/'}}");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(
      EnvironmentOf(*spec, 2),
      (std::map<std::string, std::string>{
          {"NAME", "worker-2"}, {"INDEX", "2"}, {"PORT", "9102"}, {"URL", "http://h:9102/"}}));
}

TEST(ProcessSetSpec, VariablesAreExpandedOnce) {
  const std::map<std::string, std::string> variables = {{"A", "$(B)"}, {"B", "b"}};
  EXPECT_EQ(Expand("$(A)$(B)", variables), "$(B)b");
  EXPECT_EQ(Expand("$$(A) $(C) $( $", variables), "$(A) $(C) $( $");
}

}  // namespace
}  // namespace flyball::processes
