#include "kube/client/exec_plugin.h"

#include <cstdlib>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::kube {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kV1[] = "client.authentication.k8s.io/v1";

std::string Credential(const std::string& status) {
  return R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)" +
         status + "}";
}

std::string Error(const std::string& printed, const std::string& version = kV1) {
  http::TransportOptions options;
  return std::string(TakeCredential(printed, version, options).message());
}

TEST(TakeCredential, ATokenOrACertificateWithItsKey) {
  http::TransportOptions options;
  options.client_cert_file = "old";
  ASSERT_TRUE(TakeCredential(Credential(R"({"token":"t"})"), kV1, options).ok());
  EXPECT_EQ(options.token, "t");
  EXPECT_EQ(options.client_cert_file, "old");
  ASSERT_TRUE(TakeCredential(Credential(R"({"clientCertificateData":"c","clientKeyData":"k"})"),
                             kV1, options)
                  .ok());
  EXPECT_EQ(options.client_cert_data + options.client_key_data, "ck");
  EXPECT_EQ(options.client_cert_file, "");
}

TEST(TakeCredential, SaysWhatIsWrongWithoutShowingIt) {
  EXPECT_THAT(Error("secret"), HasSubstr("expected an ExecCredential as JSON"));
  EXPECT_THAT(Error("secret"), Not(HasSubstr("secret")));
  EXPECT_THAT(Error(Credential("{}")), HasSubstr("neither token nor certificate"));
  EXPECT_THAT(Error(Credential(R"({"clientKeyData":"k"})")), HasSubstr("need each other"));
  EXPECT_THAT(Error(Credential("3")), HasSubstr("no status"));
  EXPECT_THAT(Error(Credential(R"({"token":"t"})"), "client.authentication.k8s.io/v1beta1"),
              HasSubstr("it is of client.authentication.k8s.io/v1, the kubeconfig wants"));
}

TEST(ExecInfo, TellsTheClusterOnlyWhereItIsWanted) {
  EXPECT_EQ(ExecInfo(kV1, nullptr),
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
            R"("spec":{"interactive":false}})");
  http::TransportOptions cluster;
  cluster.url = "https://c";
  cluster.ca_data = "ca";
  EXPECT_THAT(ExecInfo(kV1, &cluster),
              HasSubstr(R"("server":"https://c","certificate-authority-data":"Y2E=")"));
}

ExecPlugin Shell(const std::string& script) {
  ExecPlugin plugin;
  plugin.command = "sh";
  plugin.args = {"-c", script, "sh", "an argument"};
  plugin.env = {{"FLYBALL_TEST", "given"}, {"HOME", "/other"}};
  plugin.exec_info = "info";
  plugin.install_hint = "get it";
  return plugin;
}

TEST(RunExecPlugin, GetsArgumentsAndVariablesAndNoInput) {
  const auto printed = RunExecPlugin(
      Shell("echo $1 $FLYBALL_TEST $HOME $KUBERNETES_EXEC_INFO; cat"), Clock::System());
  ASSERT_TRUE(printed.ok()) << printed.status();
  EXPECT_EQ(*printed, "an argument given /other info\n");
}

TEST(RunExecPlugin, FailuresNameTheCommand) {
  EXPECT_THAT(std::string(RunExecPlugin(Shell("exit 3"), Clock::System()).status().message()),
              HasSubstr("exec plugin sh: it ended with status 3"));
  // An emulator of another processor does not tell that the program is missing.
  if (std::getenv("FLYBALL_EMULATED") != nullptr) return;
  ExecPlugin gone = Shell("");
  gone.command = "flyball-has-no-such-command";
  const auto status = RunExecPlugin(gone, Clock::System()).status();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("get it"));
}

TEST(RunExecPlugin, WhatPrintsWithoutEndIsKilled) {
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      RunExecPlugin(Shell("while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done"),
                    Clock::System())
          .status()));
}

}  // namespace
}  // namespace flyball::kube
