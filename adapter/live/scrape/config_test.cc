#include "adapter/live/scrape/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace flyball::scrape {
namespace {

using testing::ElementsAre;

struct ReadResult {
  Config config;
  std::vector<std::string> findings;
};

ReadResult ReadText(absl::string_view text) {
  rules::Findings findings("prometheus.yml");
  ReadResult result;
  result.config = ReadScrapeConfig(text, findings);
  for (const auto& finding : std::move(findings).Take()) {
    result.findings.push_back(finding.ToString());
  }
  return result;
}

std::vector<std::string> FindingsOfJob(absl::string_view more) {
  return ReadText(absl::StrCat("scrape_configs:\n- job_name: web\n", more)).findings;
}

TEST(ScrapeConfigTest, AWholePrometheusFile) {
  const ReadResult read = ReadText(R"(
global: {scrape_interval: 5s, scrape_timeout: 3s, evaluation_interval: 1m, sample_limit: 9,
         external_labels: {cluster: a}}
rule_files: [a.yml]
scrape_configs:
- job_name: node
  scheme: https
  tls_config: {ca_file: /ca, insecure_skip_verify: yes}
  authorization: {credentials_file: /token}
  kubernetes_sd_configs:
  - role: endpoints
    namespaces: {names: [a, b]}
    selectors: [{role: pod, label: app=web}]
    attach_metadata: {node: true}
- job_name: fast
  scrape_interval: 200ms
  body_size_limit: 10MB
  honor_labels: true
  file_sd_configs: [{files: [/etc/t/*.json], refresh_interval: 1m}]
  metric_relabel_configs: [{action: labeldrop, regex: pod}]
)");
  EXPECT_THAT(read.findings, ElementsAre("prometheus.yml:4:13: rule_files: warning: has nothing "
                                         "to do with scraping and is not read"));
  ASSERT_EQ(read.config.jobs.size(), 2u);
  const Job& node = read.config.jobs[0];
  EXPECT_EQ(node.interval, absl::Seconds(5));
  EXPECT_EQ(node.timeout, absl::Seconds(3));
  EXPECT_EQ(node.limits.samples, 9u);
  EXPECT_TRUE(node.http.insecure_skip_verify);
  EXPECT_EQ(node.http.token_file, "/token");
  ASSERT_EQ(node.kubernetes_discoveries.size(), 1u);
  EXPECT_EQ(node.kubernetes_discoveries[0].role, KubernetesDiscovery::Role::kEndpoints);
  EXPECT_TRUE(node.kubernetes_discoveries[0].attach_node);
  const Job& fast = read.config.jobs[1];
  EXPECT_EQ(fast.interval, absl::Milliseconds(200));
  EXPECT_EQ(fast.timeout, absl::Milliseconds(200));
  EXPECT_EQ(fast.limits.body_bytes, 10u << 20);
  EXPECT_TRUE(fast.honor_labels);
  EXPECT_EQ(fast.file_discoveries[0].refresh_interval, absl::Minutes(1));
  EXPECT_EQ(fast.metric_relabel_rules.size(), 1u);
}

TEST(ScrapeConfigTest, ErrorsHaveTheirPlace) {
  EXPECT_THAT(FindingsOfJob("  scrape_interval: 100ms\n"),
              ElementsAre("prometheus.yml:3:20: scrape_configs[0].scrape_interval: is shorter than "
                          "200ms"));
  EXPECT_THAT(FindingsOfJob("  relabel_configs:\n  - {action: drop}\n  - {action: hashmod,\n"
                            "     target_label: a, modulus: 0}\n"),
              ElementsAre("prometheus.yml:6:32: scrape_configs[0].relabel_configs[1].modulus: the "
                          "action hashmod needs one above 0"));
  EXPECT_THAT(FindingsOfJob("  scheme: ftp\n"),
              ElementsAre("prometheus.yml:3:11: scrape_configs[0].scheme: found \"ftp\", expected "
                          "http or https"));
  EXPECT_THAT(FindingsOfJob("  oauth2: {}\n"),
              ElementsAre("prometheus.yml:3:11: scrape_configs[0].oauth2: is not supported, "
                          "expected basic_auth or authorization"));
  EXPECT_THAT(FindingsOfJob("  sample_limit: -1\n").size(), 1);
  EXPECT_THAT(FindingsOfJob("  consul_sd_configs: []\n").size(), 1);
  EXPECT_THAT(FindingsOfJob("  scrape_timeout: 2m\n").size(), 1);
  EXPECT_THAT(FindingsOfJob("- job_name: web\n").size(), 1);
  EXPECT_THAT(FindingsOfJob("  file_sd_configs: [{files: ['/a*/b.json']}]\n").size(), 1);
  EXPECT_THAT(
      FindingsOfJob("  kubernetes_sd_configs: [{role: node, selectors: [{role: pod}]}]\n").size(),
      1);
  EXPECT_THAT(FindingsOfJob("  basic_auth: {username: a}\n  bearer_token: b\n").size(), 1);
}

TEST(ScrapeConfigTest, GlobalMayStandBehindTheJobs) {
  const ReadResult read =
      ReadText("scrape_configs: [{job_name: a}]\nglobal: {scrape_interval: 7s}\n");
  EXPECT_THAT(read.findings, ElementsAre());
  EXPECT_EQ(read.config.jobs.at(0).interval, absl::Seconds(7));
}

TEST(ScrapeConfigTest, ZeroStandsForTheDefault) {
  const ReadResult read = ReadText(
      "global: {scrape_interval: 0s, scrape_timeout: 0s}\nscrape_configs: [{job_name: a}]\n");
  EXPECT_THAT(read.findings, ElementsAre());
  EXPECT_EQ(read.config.jobs.at(0).interval, Job().interval);
  EXPECT_EQ(read.config.jobs.at(0).timeout, Job().timeout);
}

TEST(ScrapeConfigTest, TheGlobalTimeoutIsNoLongerThanTheInterval) {
  EXPECT_THAT(ReadText("global: {scrape_interval: 5s, scrape_timeout: 6s}\n").findings,
              ElementsAre("prometheus.yml:1:9: global: scrape_timeout 6s is longer than "
                          "scrape_interval 5s"));
  const ReadResult read =
      ReadText("global: {scrape_interval: 5s}\nscrape_configs: [{job_name: a}]\n");
  EXPECT_THAT(read.findings, ElementsAre());
  EXPECT_EQ(read.config.jobs.at(0).timeout, absl::Seconds(5));
}

TEST(TargetFileTest, JsonAndYamlAlike) {
  for (const char* text : {R"([{"targets": ["a:1", "b:1"], "labels": {"x": "1"}}])",
                           "- targets: ['a:1', 'b:1']\n  labels: {x: 1}\n"}) {
    rules::Findings findings("f");
    const auto groups = ReadTargetFile(text, "/t.json", findings);
    EXPECT_FALSE(findings.has_errors());
    ASSERT_EQ(groups.size(), 1u);
    EXPECT_EQ(groups[0].source, "/t.json/0");
    EXPECT_EQ(groups[0].targets.size(), 2u);
    EXPECT_EQ(groups[0].labels, (promql::LabelSet{{"__meta_filepath", "/t.json"}, {"x", "1"}}));
  }
  rules::Findings findings("f");
  ReadTargetFile("{targets: 1}", "/t.yml", findings);
  EXPECT_TRUE(findings.has_errors());
}

// As Prometheus, to which an empty file is YAML and no JSON.
TEST(TargetFileTest, AnEmptyJsonFileIsRefused) {
  for (const char* text : {"", " \n"}) {
    rules::Findings of_json("f"), of_yaml("f");
    ReadTargetFile(text, "/t.json", of_json);
    EXPECT_TRUE(of_json.has_errors());
    EXPECT_TRUE(ReadTargetFile(text, "/t.yml", of_yaml).empty());
    EXPECT_FALSE(of_yaml.has_errors());
  }
}

}  // namespace
}  // namespace flyball::scrape
