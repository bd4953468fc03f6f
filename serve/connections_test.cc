#include "serve/connections.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace flyball::serve {
namespace {

bool Shared(std::vector<std::string> args) {
  args.push_back("--config=c.yaml");
  const auto flags = ParseServeFlags(args);
  EXPECT_TRUE(flags.ok()) << flags.status();
  return ScalerWatchesAllPods(*flags);
}

TEST(ScalerWatchesAllPodsTest, WhereItSeesThemAllWithTheSameCredentials) {
  EXPECT_TRUE(Shared({"--scaler"}));
  EXPECT_TRUE(Shared({"--scaler", "--lister-kubeconfig=k"}));
  EXPECT_TRUE(Shared({"--scaler", "--lister-kubeconfig=k", "--scaler-kubeconfig=k"}));
}

TEST(ScalerWatchesAllPodsTest, NotWhereItIsAnotherOrSeesLess) {
  EXPECT_FALSE(Shared({}));
  EXPECT_FALSE(Shared({"--scaler", "--scaler-kubeconfig=s"}));
  EXPECT_FALSE(Shared({"--scaler", "--lister-kubeconfig=k", "--scaler-kubeconfig=s"}));
  EXPECT_FALSE(Shared({"--scaler", "--scaler-namespace=shop"}));
}

// So that one reader of folders says what exists, whatever else is switched on.
TEST(MakeObjectsTest, AFolderIsAClusterWithTheScalerAndWithoutIt) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/make_objects");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  std::ofstream(absl::StrCat(folder, "/geese.yaml")) << R"(
{apiVersion: example.com/v1, kind: Goose, metadata: {name: g}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: geese.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: geese, kind: Goose}
  versions: [{name: v1}]
)";
  for (const char* more : {"--v=0", "--scaler"}) {
    const auto flags = ParseServeFlags({"--config=c.yaml", "--objects=" + folder, more});
    ASSERT_TRUE(flags.ok()) << flags.status();
    SimulatedClock clock(absl::FromUnixSeconds(1767225600));
    const auto objects = MakeObjects(*flags, clock);
    ASSERT_TRUE(objects.ok()) << objects.status();
    EXPECT_TRUE(ConnectionToObjects(*flags, *objects, clock)().ok());
    kube::ObjectQuery query;
    query.resource = {"example.com", "geese"};
    const auto geese = objects->directory->List(query);
    ASSERT_TRUE(geese.ok()) << more << geese.status();
    ASSERT_EQ(geese->size(), 1u);
    EXPECT_EQ((*geese)[0]->ns, "") << more;
  }
  std::filesystem::remove_all(folder);
}

http::TransportOptions Towards(const std::string& url, std::vector<std::string> args) {
  args.push_back("--config=c.yaml");
  const auto flags = ParseServeFlags(args);
  EXPECT_TRUE(flags.ok()) << flags.status();
  const auto options = PrometheusTransportOptions(*flags, url);
  EXPECT_TRUE(options.ok()) << options.status();
  return *options;
}

TEST(PrometheusTransportOptionsTest, AUserInTheUrlComesBeforeATokenFile) {
  const std::string token = "--prometheus-token-file=t";
  const http::TransportOptions user = Towards("http://me:p%3Aw@prom:9090/x", {token});
  EXPECT_EQ(user.token_file, "");
  EXPECT_EQ(user.username, "me");
  EXPECT_EQ(user.password, "p:w");
  EXPECT_EQ(Towards("http://prom:9090", {token}).token_file, "t");
}

// As what belongs to the server, they go no further where it redirects to another one.
TEST(PrometheusTransportOptionsTest, HeadersBelongToTheServer) {
  const http::TransportOptions options = Towards(
      "http://prom", {"--prometheus-header=X-Key=s", "--prometheus-header=Authorization=Digest a",
                      "--prometheus-token-file=t"});
  EXPECT_EQ(options.headers, (http::Headers{{"X-Key", "s"}, {"Authorization", "Digest a"}}));
  EXPECT_EQ(options.token_file, "");
}

TEST(PrometheusTransportOptionsTest, HeadersComeBesideTheImpersonationOfAKubeconfig) {
  const std::string path = absl::StrCat(testing::TempDir(), "/impersonating.yaml");
  std::ofstream(path) << R"({"clusters":[{"name":"c","cluster":{"server":"https://c"}}],)"
                      << R"("users":[{"name":"u","user":{"token":"t","as":"viewer"}}],)"
                      << R"("contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}],)"
                      << R"("current-context":"x"})";
  const http::TransportOptions options =
      Towards("http://prom",
              {absl::StrCat("--prometheus-auth-config=", path), "--prometheus-header=X-Key=s"});
  EXPECT_EQ(options.headers, (http::Headers{{"Impersonate-User", "viewer"}, {"X-Key", "s"}}));
}

TEST(IgnoredProxyVariablesTest, AreThoseThatHaveAValue) {
  for (const char* name : {"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"}) {
    unsetenv(name);
  }
  EXPECT_TRUE(IgnoredProxyVariables().empty());
  setenv("http_proxy", "", 1);
  setenv("HTTPS_PROXY", "http://proxy", 1);
  EXPECT_EQ(IgnoredProxyVariables(), std::vector<std::string>{"HTTPS_PROXY"});
  unsetenv("HTTPS_PROXY");
}

TEST(StateFolderTest, IsTheFirstThatSystemdNames) {
  unsetenv("STATE_DIRECTORY");
  EXPECT_EQ(StateFolder(), "");
  setenv("STATE_DIRECTORY", "/var/lib/flyball", 1);
  EXPECT_EQ(StateFolder(), "/var/lib/flyball");
  setenv("STATE_DIRECTORY", "/var/lib/flyball:/var/lib/more", 1);
  EXPECT_EQ(StateFolder(), "/var/lib/flyball");
  unsetenv("STATE_DIRECTORY");
}

}  // namespace
}  // namespace flyball::serve
