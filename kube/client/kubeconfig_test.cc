#include "kube/client/kubeconfig.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::kube {
namespace {

constexpr char kConfig[] = R"(
apiVersion: v1
kind: Config
current-context: dev
contexts:
- {name: dev, context: {cluster: local, user: admin, namespace: shop}}
- {name: bare, context: {cluster: local}}
- {name: file, context: {cluster: files, user: token}}
- {name: plugin, context: {cluster: local, user: plugin}}
- {name: lost, context: {cluster: nowhere}}
clusters:
- name: local
  cluster:
    server: https://127.0.0.1:6443
    certificate-authority-data: Y2E=
    tls-server-name: kubernetes
- name: files
  cluster: {server: "https://[::1]:6443", certificate-authority: pki/ca.crt}
users:
- name: admin
  user: {client-certificate-data: Y2VydA==, client-key-data: a2V5, as: jane, as-groups: [a, b]}
- name: token
  user: {tokenFile: /run/token, token: old}
- name: plugin
  user: {exec: {command: aws}}
)";

// The config as a file, whose path is the process's own.
std::string Written(const std::string& text) {
  const std::string path = absl::StrCat(testing::TempDir(), "/kubeconfig-", getpid());
  std::ofstream(path) << text;
  return path;
}

TEST(LoadKubeconfigTest, CurrentContextLeadsToClusterAndUser) {
  const auto options = LoadKubeconfig(Written(kConfig));
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->url, "https://127.0.0.1:6443");
  EXPECT_EQ(options->ca_data, "ca");
  EXPECT_EQ(options->server_name, "kubernetes");
  EXPECT_EQ(options->client_cert_data, "cert");
  EXPECT_EQ(options->client_key_data, "key");
  EXPECT_EQ(options->headers, (http::Headers{{"Impersonate-User", "jane"},
                                             {"Impersonate-Group", "a"},
                                             {"Impersonate-Group", "b"}}));
}

TEST(LoadKubeconfigTest, FilesAreRelativeToTheConfig) {
  const std::string path = Written(kConfig);
  const auto options = LoadKubeconfig(path, "file");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->ca_file, std::filesystem::path(path).parent_path() / "pki/ca.crt");
  EXPECT_EQ(options->token_file, "/run/token");
  EXPECT_EQ(options->token, "old");
}

TEST(LoadKubeconfigTest, UserIsOptional) {
  EXPECT_TRUE(LoadKubeconfig(Written(kConfig), "bare").ok());
}

struct KubeconfigRow {
  std::string text;
  std::string context;
  std::string error;
};

class LoadKubeconfigRefusedTest : public testing::TestWithParam<KubeconfigRow> {};

TEST_P(LoadKubeconfigRefusedTest, Row) {
  const std::string path = Written(GetParam().text);
  const auto status = LoadKubeconfig(path, GetParam().context).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), absl::StrCat(path, GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, LoadKubeconfigRefusedTest,
    testing::Values(
        KubeconfigRow{
            kConfig, "plugin",
            ": the user's \"exec\" plugin is not supported; use a token, tokenFile or client "
            "certificate"},
        KubeconfigRow{kConfig, "none", ": no context named \"none\""},
        KubeconfigRow{kConfig, "lost", ": no cluster named \"nowhere\""},
        KubeconfigRow{"{}", "", ": no current-context"},
        KubeconfigRow{"", "", ": not a kubeconfig"},
        KubeconfigRow{"a:\n  - b\n c", "", ":3:2: end of map not found"},
        KubeconfigRow{"current-context: [a]", "", ":1:18: bad conversion"},
        KubeconfigRow{
            "contexts: [{name: a, context: {cluster: a}}]\n"
            "clusters: [{name: a, cluster: {server: x, certificate-authority-data: '*'}}]",
            "a", ": certificate-authority-data is not base64"},
        KubeconfigRow{"contexts: [{name: a, context: {cluster: a}}]\n"
                      "clusters: [{name: a, cluster: {server: x, insecure-skip-tls-verify: true, "
                      "certificate-authority: y}}]",
                      "a",
                      ": certificate-authority and insecure-skip-tls-verify exclude each other"}));

TEST(InClusterOptionsTest, FilesOfTheServiceAccount) {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::path(testing::TempDir()) / ("flyball-service-account-" + std::to_string(getpid()));
  fs::create_directories(folder);
  EXPECT_EQ(InClusterOptions("", "", folder).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(InClusterOptions("10.0.0.1", "443", folder).status().code(),
            absl::StatusCode::kFailedPrecondition);
  std::ofstream(folder / "token") << "t";
  const auto options = InClusterOptions("fd00::1", "443", folder);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->url, "https://[fd00::1]:443");
  EXPECT_EQ(options->token_file, (folder / "token").string());
  EXPECT_EQ(options->ca_file, (folder / "ca.crt").string());
  fs::remove_all(folder);
}

class LoadKubeContextTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + "/kube-context-" + name;
    std::ofstream(path) << text;
    return path;
  }
};

TEST_F(LoadKubeContextTest, SeveralFilesAreOne) {
  const std::string first =
      Write("first", "current-context: both\nusers:\n- {name: u, user: {token: mine}}\n");
  const std::string second =
      Write("second",
            "current-context: other\n"
            "contexts:\n- {name: both, context: {cluster: c, user: u, namespace: shop}}\n"
            "clusters:\n- {name: c, cluster: {server: https://c, certificate-authority: ca.crt}}\n"
            "users:\n- {name: u, user: {token: theirs}}\n");
  const auto context = LoadKubeContext({"/nonexistent", first, second}, {});
  ASSERT_TRUE(context.ok()) << context.status();
  EXPECT_EQ(context->ns, "shop");
  EXPECT_EQ(context->transport.token, "mine");
  EXPECT_EQ(std::filesystem::path(context->transport.ca_file).lexically_normal(),
            (std::filesystem::path(testing::TempDir()) / "ca.crt").lexically_normal());
  EXPECT_EQ(LoadKubeContext({"/nonexistent"}, {}).status().message(),
            "/nonexistent: cannot be read: No such file or directory");
}

TEST_F(LoadKubeContextTest, AnotherContextAndAnotherUser) {
  const auto context =
      LoadKubeContext({Write("all", kConfig)}, {.context = "dev", .as = "joe", .as_groups = {"g"}});
  ASSERT_TRUE(context.ok()) << context.status();
  EXPECT_EQ(context->ns, "shop");
  EXPECT_EQ(context->transport.headers,
            (http::Headers{{"Impersonate-User", "joe"}, {"Impersonate-Group", "g"}}));
}

TEST_F(LoadKubeContextTest, AUserIsTakenInThePlaceOfTheContexts) {
  const std::string path = Write("users",
                                 "current-context: c\n"
                                 "contexts:\n- {name: c, context: {cluster: c, user: u}}\n"
                                 "clusters:\n- {name: c, cluster: {server: https://c}}\n"
                                 "users:\n- {name: u, user: {token: of-u}}\n"
                                 "- {name: v, user: {token: of-v}}\n");
  const auto context = LoadKubeContext({path}, {.user = "v"});
  ASSERT_TRUE(context.ok()) << context.status();
  EXPECT_EQ(context->transport.token, "of-v");
  EXPECT_THAT(std::string(LoadKubeContext({path}, {.user = "w"}).status().message()),
              testing::HasSubstr("\"w\""));
}

TEST_F(LoadKubeContextTest, APluginIsRunAsTheFileSays) {
  const std::string path =
      Write("plugin",
            "current-context: c\n"
            "contexts:\n- {name: c, context: {cluster: c, user: u}}\n"
            "clusters:\n- {name: c, cluster: {server: https://c}}\n"
            "users:\n- name: u\n  user:\n    exec:\n"
            "      apiVersion: client.authentication.k8s.io/v1beta1\n"
            "      command: ./get\n      args: [a, b]\n      env: [{name: N, value: v}]\n"
            "      provideClusterInfo: true\n");
  ExecPlugin asked;
  const auto run = [&asked](const ExecPlugin& plugin) -> absl::StatusOr<std::string> {
    asked = plugin;
    return R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1",)"
           R"("status":{"token":"t"}})";
  };
  const auto context = LoadKubeContext({path}, {.run_plugin = run});
  ASSERT_TRUE(context.ok()) << context.status();
  EXPECT_EQ(context->transport.token, "t");
  EXPECT_EQ(std::filesystem::path(asked.command).lexically_normal(),
            (std::filesystem::path(testing::TempDir()) / "get").lexically_normal());
  EXPECT_EQ(asked.args, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(asked.env[0].second, "v");
  EXPECT_NE(asked.exec_info.find("https://c"), std::string::npos);
  EXPECT_EQ(LoadKubeContext({path}, {}).status().code(), absl::StatusCode::kInvalidArgument)
      << "without something to run it with";
}

}  // namespace
}  // namespace flyball::kube
