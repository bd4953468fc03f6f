#include "cmd/flags/doctor_flags.h"

#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::cmd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(DoctorFlagsFrom, TakesTheFormsOfKubectl) {
  const auto hpa = DoctorFlagsFrom({"hpa/web", "-n", "shop"});
  ASSERT_TRUE(hpa.ok()) << hpa.status();
  EXPECT_EQ(hpa->kind + " " + hpa->ns + "/" + hpa->name, "hpa shop/web");
  EXPECT_EQ(DoctorFlagsFrom({"Autoscaler/web"})->kind, "autoscaler");
  EXPECT_EQ(DoctorFlagsFrom({"web"})->kind, "");
  EXPECT_EQ(DoctorFlagsFrom({"web"})->ns, "") << "that of the context";
  EXPECT_EQ(DoctorFlagsFrom({"--all"})->ns, "") << "all namespaces";
}

TEST(DoctorFlagsFrom, RefusesWhatIsNoAutoscaler) {
  EXPECT_THAT(std::string(DoctorFlagsFrom({"pod/web"}).status().message()),
              HasSubstr("expected hpa/NAME or autoscaler/NAME, got pod/web"));
  EXPECT_FALSE(DoctorFlagsFrom({"hpa/"}).ok());
  EXPECT_FALSE(DoctorFlagsFrom({"hpa/web", "--all"}).ok());
  EXPECT_FALSE(DoctorFlagsFrom({"hpa/web", "hpa/api"}).ok());
  EXPECT_FALSE(DoctorFlagsFrom({"-o", "xml"}).ok());
  EXPECT_FALSE(DoctorFlagsFrom({"--timeout=0"}).ok());
  EXPECT_FALSE(DoctorFlagsFrom({"--prometheus-verb=PUT"}).ok());
}

TEST(DoctorFlagsFrom, AsksPrometheusAsTheServerDoes) {
  const auto flags = DoctorFlagsFrom(
      {"--prometheus-url=http://a", "--prometheus-url=http://b", "--prometheus-token-file=/t"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_THAT(flags->prometheus.prometheus_urls, ElementsAre("http://a", "http://b"));
  EXPECT_EQ(flags->prometheus.prometheus_token_file, "/t");
}

TEST(DoctorFlagsFrom, HasTheFlagsOfKubectl) {
  const auto flags = DoctorFlagsFrom({"hpa/web", "--context", "prod", "--as=jane", "--as-group=a",
                                      "--as-group=b", "-s", "http://s"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(flags->context + " " + flags->as + " " + flags->server, "prod jane http://s");
  EXPECT_THAT(flags->as_groups, ElementsAre("a", "b"));
}

TEST(ConnectTo, ByKubectlProxyNeedsNoCredentials) {
  const auto cluster =
      ConnectTo(*DoctorFlagsFrom({"--server=http://127.0.0.1:8001"}), Clock::System());
  ASSERT_TRUE(cluster.ok());
  EXPECT_EQ(cluster->transport.url, "http://127.0.0.1:8001");
  EXPECT_FALSE(cluster->inside);
}

TEST(ConnectTo, AnIdentityThatWouldNotBeUsedIsRefused) {
  for (const std::string flag : {"--as=bob", "--user=admin", "--context=prod"}) {
    const auto cluster =
        ConnectTo(*DoctorFlagsFrom({"--server=http://127.0.0.1:8001", flag}), Clock::System());
    EXPECT_EQ(cluster.status().code(), absl::StatusCode::kInvalidArgument) << flag;
  }
}

TEST(ConnectTo, TakesTheContextsNamespaceUnlessAnotherIsGiven) {
  const std::string path = testing::TempDir() + "/flyball-cluster-flags";
  std::ofstream(path) << "current-context: c\n"
                         "contexts: [{name: c, context: {cluster: c, namespace: shop}}]\n"
                         "clusters: [{name: c, cluster: {server: https://c}}]\n";
  ClusterFlags flags;
  flags.kubeconfig = path;
  EXPECT_EQ(ConnectTo(flags, Clock::System())->ns, "shop");
  flags.ns = "bank";
  EXPECT_EQ(ConnectTo(flags, Clock::System())->ns, "bank");
}

TEST(ConnectTo, NamesTheFileThatIsMissing) {
  EXPECT_THAT(
      std::string(
          ConnectTo(*DoctorFlagsFrom({"--kubeconfig=/gone"}), Clock::System()).status().message()),
      HasSubstr("/gone"));
}

TEST(SettingsOf, ReadsTheArgumentsOfAPod) {
  const serve::ServeFlags flags =
      SettingsOf({"/adapter", "serve", "--config=/c.yaml", "--prometheus-url=http://p",
                  "--metrics-relist-interval=30s", "--scaler", "--scaler-mode=act"});
  EXPECT_THAT(flags.prometheus_urls, ElementsAre("http://p"));
  EXPECT_EQ(flags.adapter.relist.max_age, absl::Seconds(30));
  EXPECT_TRUE(flags.scaler.enabled);
  EXPECT_EQ(flags.scaler.mode, "act");
}

TEST(SettingsOf, OfAnotherProgramAreNone) {
  EXPECT_TRUE(SettingsOf({"metrics-server", "--kubelet-insecure-tls"}).prometheus_urls.empty());
}

}  // namespace
}  // namespace flyball::cmd
