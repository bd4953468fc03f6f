#include "serve/flags.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "serve/go_flags.h"

namespace flyball::serve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ParseServeFlagsTest, DefaultsAreTheOriginals) {
  const auto flags = ParseServeFlags({"--config=c.yaml"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(flags->server.listen.port, 443);
  EXPECT_EQ(flags->server.listen.bind_address, "0.0.0.0");
  EXPECT_FALSE(flags->bind_address_given);
  EXPECT_THAT(flags->prometheus_urls, ElementsAre("https://localhost"));
  EXPECT_EQ(flags->adapter.relist.interval, absl::Minutes(10));
  EXPECT_EQ(flags->adapter.relist.max_age, absl::Minutes(10));
  EXPECT_THAT(flags->server.authorization.always_allow_paths,
              ElementsAre("/healthz", "/readyz", "/livez"));
  EXPECT_THAT(flags->warnings, IsEmpty());
}

// The arguments of the Helm chart's Deployment, its positional word included.
TEST(ParseServeFlagsTest, HelmChartArguments) {
  const auto flags = ParseServeFlags({"/adapter", "--secure-port=6443", "--cert-dir=/tmp/cert",
                                      "--prometheus-url=http://prometheus.default.svc:9090",
                                      "--metrics-relist-interval=1m", "--v=4",
                                      "--config=/etc/adapter/config.yaml"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(flags->server.listen.port, 6443);
  EXPECT_EQ(flags->verbosity, 4);
  EXPECT_EQ(flags->adapter.relist.max_age, absl::Minutes(1));
  EXPECT_THAT(flags->prometheus_urls, ElementsAre("http://prometheus.default.svc:9090"));
}

// The arguments of kube-prometheus's Deployment.
TEST(ParseServeFlagsTest, KubePrometheusArguments) {
  const auto flags = ParseServeFlags(
      {"--cert-dir=/var/run/serving-cert", "--config=/etc/adapter/config.yaml",
       "--metrics-relist-interval=1m",
       "--prometheus-url=https://prometheus-k8s.monitoring.svc:9090/", "--secure-port=6443",
       "--tls-cipher-suites=TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_"
       "SHA256"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_THAT(flags->server.tls.cipher_suites,
              ElementsAre("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
                          "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"));
}

TEST(ParseServeFlagsTest, ASeriesCallMayTakeAsLongAsAnyOfItsFlagsSays) {
  const auto timeout = [](std::vector<std::string> args) {
    args.push_back("--config=c");
    const auto flags = ParseServeFlags(args);
    EXPECT_TRUE(flags.ok()) << flags.status();
    return flags->adapter.relist.timeout;
  };
  EXPECT_EQ(timeout({}), absl::Minutes(10));
  EXPECT_EQ(timeout({"--metrics-relist-interval=5s"}), absl::Seconds(60));
  EXPECT_EQ(timeout({"--metrics-relist-interval=5s", "--prometheus-timeout=2m"}), absl::Minutes(2));
}

TEST(ParseServeFlagsTest, OnlyWhatStandsInAUrlMustBeShort) {
  EXPECT_EQ(ParseServeFlags({"--config=c"})->adapter.queries.max_url_bytes, 4096u);
  EXPECT_EQ(
      ParseServeFlags({"--config=c", "--prometheus-verb=POST"})->adapter.queries.max_url_bytes, 0u);
}

TEST(ParseServeFlagsTest, SpellingsOfGo) {
  const auto flags = ParseServeFlags({"--config", "c.yaml", "-v=6", "--authentication-skip-lookup",
                                      "--query-merge=false", "--metrics-max-age", "1h30m",
                                      "--secure-port", "1", "--secure-port=2"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(flags->verbosity, 6);
  EXPECT_TRUE(flags->authentication_skip_lookup);
  EXPECT_FALSE(flags->adapter.queries.merge);
  EXPECT_EQ(flags->adapter.relist.max_age, absl::Minutes(90));
  EXPECT_EQ(flags->server.listen.port, 2) << "the last one wins";
}

TEST(ParseServeFlagsTest, AnEmptyValueTakesNothingOfWhatFollows) {
  const auto flags = ParseServeFlags({"--lister-kubeconfig=", "--config=c",
                                      "--prometheus-header=", "--prometheus-auth-config", "",
                                      "--v=4", "--client-ca-file="});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(flags->config, "c");
  EXPECT_EQ(flags->lister_kubeconfig, "");
  EXPECT_THAT(flags->prometheus_headers, ElementsAre(""));
  EXPECT_EQ(flags->verbosity, 4);
}

TEST(ParseServeFlagsTest, AFlagWithoutAValueTakesNothingOfWhatFollows) {
  const auto flags = ParseServeFlags({"--disable-http2", "-v=4", "--authentication-skip-lookup",
                                      "--client-ca-file=", "--profiling",
                                      "--requestheader-allowed-names=a", "--config=c"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(flags->verbosity, 4);
  EXPECT_TRUE(flags->authentication_skip_lookup);
  EXPECT_EQ(flags->server.authentication.client_ca_file, "");
  EXPECT_THAT(flags->server.authentication.request_header.allowed_names, ElementsAre("a"));
  EXPECT_EQ(flags->config, "c");
}

TEST(ParseServeFlagsTest, TheWordAfterAFlagIsItsValue) {
  const auto flags = ParseServeFlags({"--config", "--v=9", "--cert-dir", "-x", "-v", "3"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(flags->config, "--v=9");
  EXPECT_EQ(flags->server.tls.cert_dir, "-x");
  EXPECT_EQ(flags->verbosity, 3);
}

TEST(ParseServeFlagsTest, EachValueMustBeWellFormedAlthoughTheLastOneCounts) {
  EXPECT_FALSE(ParseServeFlags({"--config=c", "--secure-port=x", "--secure-port=5"}).ok());
  EXPECT_FALSE(ParseServeFlags({"--config=c", "--metrics-max-age=5", "--metrics-max-age=5m"}).ok());
}

// The values and answers of prometheus-adapter 0.12.0.
TEST(CheckFileLevelsTest, TakesWhatKlogTakes) {
  for (const char* text :
       {"", "a=1", "a=1,,b=2,", "a=+1", "a =1", "a=0", "a=-0", "a*=2147483647"}) {
    EXPECT_TRUE(CheckFileLevels(text).ok()) << text;
  }
  for (const char* text : {"bad", "a=b", "=1", "a=", "a=1=2", "a=0x1", "a=1_0", "a= 1", " ", "a=+",
                           "a=2147483648", "a=1,b"}) {
    EXPECT_THAT(CheckFileLevels(text).message(),
                HasSubstr("syntax error: expect comma-separated list of filename=N"))
        << text;
  }
  EXPECT_THAT(CheckFileLevels("a=-1").message(), HasSubstr("negative value for vmodule level"));
}

TEST(ParseServeFlagsTest, ListsAreCutAtCommasAndRepeatedFlagsKept) {
  const auto flags = ParseServeFlags(
      {"--config=c", "--requestheader-allowed-names=a,b", "--requestheader-allowed-names=c",
       "--prometheus-header=X=1,2", "--prometheus-header=Y", "--prometheus-url=http://a",
       "--prometheus-url=http://b", "--requestheader-username-headers=X-User"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_THAT(flags->server.authentication.request_header.allowed_names,
              ElementsAre("a", "b", "c"));
  EXPECT_THAT(flags->prometheus_headers, ElementsAre("X=1,2", "Y"));
  EXPECT_THAT(flags->prometheus_urls, ElementsAre("http://a", "http://b"));
  EXPECT_THAT(flags->server.authentication.request_header.headers.username_headers,
              ElementsAre("X-User"))
      << "replaces the default";
}

// As pflag's StringSlice.
TEST(ParseServeFlagsTest, AnEmptyListIsEmptyAndPartsMayBeQuoted) {
  const auto flags =
      ParseServeFlags({"--config=c", "--tls-cipher-suites=", "--authorization-always-allow-paths",
                       "", "--requestheader-allowed-names=\"front-proxy-client\",\"a,b\"",
                       "--requestheader-group-headers=", "--requestheader-group-headers=X-Group"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_THAT(flags->server.tls.cipher_suites, IsEmpty());
  EXPECT_THAT(flags->server.authorization.always_allow_paths, IsEmpty());
  EXPECT_THAT(flags->server.authentication.request_header.allowed_names,
              ElementsAre("front-proxy-client", "a,b"));
  EXPECT_THAT(flags->server.authentication.request_header.headers.group_headers,
              ElementsAre("X-Group"));
}

TEST(ParseServeFlagsTest, FlagsWithoutMeaningGiveOneWarning) {
  const auto flags =
      ParseServeFlags({"--config=c", "--client-qps=100000", "--client-burst=100000",
                       "--audit-log-path=-", "--disable-http2", "--log-flush-frequency=5s",
                       "--logtostderr=true", "--stderrthreshold=INFO"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  ASSERT_EQ(flags->warnings.size(), 1u);
  EXPECT_THAT(flags->warnings[0], HasSubstr("--client-qps ("));
  EXPECT_THAT(flags->warnings[0], HasSubstr("--disable-http2 ("));
  EXPECT_THAT(flags->warnings[0], HasSubstr("--audit-log-path ("));
  EXPECT_THAT(flags->warnings[0], HasSubstr("--logtostderr (logs always go to stderr)"));
}

TEST(ParseServeFlagsTest, KlogsFlagsHaveTheirOldSpellingToo) {
  for (const char* const flag :
       {"skip_headers=true", "skip-headers", "log_dir=/tmp", "log_file=a", "log_file_max_size=1800",
        "log-file-max-size=1800", "log_backtrace_at=a.go:7", "log-backtrace-at=a.go:7",
        "add_dir_header", "add-dir-header", "one_output=true", "one-output", "skip_log_headers",
        "skip-log-headers"}) {
    const auto flags = ParseServeFlags({"--config=c", absl::StrCat("--", flag)});
    ASSERT_TRUE(flags.ok()) << flag << ": " << flags.status();
    EXPECT_THAT(flags->warnings, ElementsAre(HasSubstr("accepted and have no effect: --"))) << flag;
  }
}

TEST(ParseServeFlagsTest, GatesOfOtherThingsGiveAWarning) {
  const auto flags =
      ParseServeFlags({"--config=c", "--scaler",
                       "--feature-gates=HPAScaleToZero=true,SizeMemoryBackedVolumes=true"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_THAT(flags->warnings, ElementsAre("--feature-gates: without effect on autoscalers: "
                                           "SizeMemoryBackedVolumes"));
}

struct BadRow {
  std::string name;
  std::vector<std::string> args;
  std::string message;
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
};

class BadServeFlagsTest : public testing::TestWithParam<BadRow> {};

TEST_P(BadServeFlagsTest, IsRefused) {
  const auto flags = ParseServeFlags(GetParam().args);
  ASSERT_EQ(flags.status().code(), GetParam().code);
  EXPECT_THAT(std::string(flags.status().message()), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadServeFlagsTest,
    testing::Values(
        BadRow{"NoConfig", {}, "make sure to use --config", absl::StatusCode::kFailedPrecondition},
        BadRow{"Unknown", {"--config=c", "--nope"}, "--nope"},
        BadRow{"Undocumented", {"-c", "x"}, "-c"},
        BadRow{"Duration", {"--config=c", "--metrics-max-age=5"}, "--metrics-max-age"},
        BadRow{"InertDuration", {"--config=c", "--log-flush-frequency=x"}, "--log-flush-frequency"},
        BadRow{"InertFileLevels", {"--config=c", "--vmodule=bad", "--vmodule=a=1"}, "--vmodule"},
        BadRow{"List",
               {"--config=c", "--requestheader-allowed-names=\"a"},
               "--requestheader-allowed-names"},
        BadRow{"InertNumber", {"--config=c", "--client-burst=x"}, "--client-burst"},
        BadRow{"Verb",
               {"--config=c", "--prometheus-verb=PUT"},
               "unsupported Prometheus HTTP verb \"PUT\"",
               absl::StatusCode::kFailedPrecondition},
        BadRow{"BothAuth",
               {"--config=c", "--prometheus-auth-incluster", "--prometheus-auth-config=k"},
               "exclude each other",
               absl::StatusCode::kFailedPrecondition},
        BadRow{"NoPort",
               {"--config=c", "--secure-port=0"},
               "--secure-port",
               absl::StatusCode::kFailedPrecondition},
        BadRow{"Port",
               {"--config=c", "--secure-port=70000"},
               "--secure-port",
               absl::StatusCode::kFailedPrecondition},
        BadRow{"CertAlone",
               {"--config=c", "--tls-cert-file=c.pem"},
               "need each other",
               absl::StatusCode::kFailedPrecondition},
        BadRow{"NanValue",
               {"--config=c", "--nan-value=1"},
               "zero or drop",
               absl::StatusCode::kFailedPrecondition}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace flyball::serve
