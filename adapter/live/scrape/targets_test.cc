#include "adapter/live/scrape/targets.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "adapter/live/scrape/testing/job_of.h"

namespace flyball::scrape {
namespace {

using promql::LabelSet;

TEST(TargetsTest, LabelsBeforeRelabelling) {
  const Job job = JobOf("  scrape_interval: 90s\n  params: {module: [a, b]}\n");
  EXPECT_EQ(DiscoveredLabels(job, {{"__address__", "h:1"}, {"zone", "a"}},
                             {{"rack", "r"}, {"zone", "b"}}),
            (LabelSet{{"__address__", "h:1"},
                      {"__metrics_path__", "/metrics"},
                      {"__param_module", "a"},
                      {"__scheme__", "http"},
                      {"__scrape_interval__", "1m30s"},
                      {"__scrape_timeout__", "10s"},
                      {"job", "web"},
                      {"rack", "r"},
                      {"zone", "a"}}));
}

TEST(TargetsTest, RelabellingMakesTheUrl) {
  const Job job = JobOf(
      "  params: {module: [a, b]}\n"
      "  static_configs: [{targets: ['h:1'], labels: {__meta_x: y}}]\n"
      "  relabel_configs:\n"
      "  - {target_label: __param_target, replacement: 'x y'}\n"
      "  - {target_label: __scheme__, replacement: https}\n"
      "  - {source_labels: [__meta_x], target_label: __metrics_path__, replacement: /$1}\n"
      "  - {target_label: __tmp, replacement: kept}\n");
  const Targets targets = MakeTargets(job, job.static_groups);
  ASSERT_EQ(targets.active.size(), 1u);
  const Target& target = targets.active[0];
  EXPECT_EQ(target.origin, "https://h:1");
  EXPECT_EQ(target.path, "/y?module=a&module=b&target=x+y");
  EXPECT_EQ(target.sample_labels, (LabelSet{{"instance", "h:1"}, {"job", "web"}}));
  EXPECT_EQ(promql::LabelValue(target.labels, "__tmp"), "kept");
  EXPECT_EQ(promql::LabelValue(target.labels, "__meta_x"), "");
}

TEST(TargetsTest, EachOnceAndTheRefusedWithTheirReason) {
  const Job job = JobOf(
      "  static_configs: [{targets: ['h:1', 'h:1', 'h/1', 'drop:1', 'fast:1', '']}]\n"
      "  target_limit: 1\n"
      "  relabel_configs:\n"
      "  - {action: drop, source_labels: [__address__], regex: 'drop.*'}\n"
      "  - {source_labels: [__address__], regex: 'fast.*', target_label: __scrape_timeout__,"
      " replacement: 2m}\n");
  const Targets targets = MakeTargets(job, job.static_groups);
  EXPECT_EQ(targets.active.size(), 1u);
  EXPECT_FALSE(targets.over_limit);
  const TargetGroup& group = job.static_groups.at(0);
  ASSERT_EQ(group.targets.size(), 6u);
  const auto why_not = [&](size_t target) {
    return MakeTarget(job, DiscoveredLabels(job, group.targets[target], group.labels)).status();
  };
  EXPECT_EQ(why_not(2).message(), "__address__ is \"h/1\", expected host:port");
  EXPECT_TRUE(absl::IsNotFound(why_not(3)));
  EXPECT_EQ(why_not(4).message(), "__scrape_timeout__ is longer than __scrape_interval__");
  EXPECT_EQ(why_not(5).message(), "it has no __address__");
}

// These two have the same FNV-1a: whoever may choose labels must not find such a pair, or one of
// the targets would not be scraped.
TEST(TargetsTest, TargetsAreDistinctEvenIfAHashWithoutASeedIsNot) {
  const Job job = JobOf(
      "  static_configs:\n"
      "  - {targets: ['h:1'], labels: {zone: r7a3g65j1s2u29n130wz}}\n"
      "  - {targets: ['h:1'], labels: {zone: pla0l30ksw01vfq492ky}}\n");
  EXPECT_EQ(MakeTargets(job, job.static_groups).active.size(), 2u);
}

TEST(TargetsTest, MoreThanTheLimit) {
  const Job job = JobOf("  target_limit: 1\n  static_configs: [{targets: ['a:1', 'b:1']}]\n");
  EXPECT_TRUE(MakeTargets(job, job.static_groups).over_limit);
}

TEST(TargetsTest, AnnotatedPodsAreScrapedWhereTheyAskFor) {
  const Job job = AnnotatedPods(absl::Seconds(1));
  EXPECT_EQ(job.limits.samples, 50'000u);
  EXPECT_EQ(job.limits.body_bytes, 8u << 20);
  EXPECT_EQ(job.limits.labels, 64u);
  EXPECT_TRUE(job.asked_for_by_pods);
  TargetGroup group;
  const std::string prefix = "__meta_kubernetes_pod_";
  group.labels = {{"__meta_kubernetes_namespace", "shop"},
                  {prefix + "annotation_prometheus_io_path", "/m"},
                  {prefix + "annotation_prometheus_io_port", "9102"},
                  {prefix + "annotation_prometheus_io_scheme", "https"},
                  {prefix + "annotation_prometheus_io_scrape", "true"},
                  {prefix + "name", "web-1"},
                  {prefix + "phase", "Running"}};
  group.targets = {{{"__address__", "10.0.0.1:80"}},
                   {{"__address__", "[fd00::1]:443"}},
                   {{"__address__", "10.0.0.1"}}};
  const Targets targets = MakeTargets(job, {&group, 1});
  ASSERT_EQ(targets.active.size(), 2u);
  EXPECT_EQ(targets.active[0].origin + targets.active[0].path, "https://10.0.0.1:9102/m");
  EXPECT_EQ(targets.active[1].origin, "https://[fd00::1]:9102");
  EXPECT_EQ(targets.active[0].sample_labels, (LabelSet{{"instance", "10.0.0.1:9102"},
                                                       {"job", "annotated-pods"},
                                                       {"namespace", "shop"},
                                                       {"pod", "web-1"}}));
}

TEST(TargetsTest, AnAnnotatedPortLeadsToNoOtherHost) {
  const std::string annotation = "__meta_kubernetes_pod_annotation_prometheus_io_";
  const auto origin_of = [&](const std::string& address, const std::string& port) {
    TargetGroup group;
    group.labels = {{annotation + "path", "/federate?match[]=up"},
                    {annotation + "port", port},
                    {annotation + "scrape", "true"}};
    group.targets = {{{"__address__", address}}};
    const Targets targets = MakeTargets(AnnotatedPods(absl::Seconds(1)), {&group, 1});
    return targets.active.empty() ? "none" : targets.active[0].origin;
  };
  EXPECT_EQ(origin_of("10.0.0.5", "9102"), "http://10.0.0.5:9102");
  EXPECT_EQ(origin_of("10.0.0.5", "x@169.254.169.254;80"), "http://10.0.0.5");
  EXPECT_EQ(origin_of("10.0.0.5:81", "x@169.254.169.254;80"), "http://10.0.0.5:81");
  EXPECT_EQ(origin_of("fd00::1", "x@[fe80::1];80"), "http://[fd00::1]");
}

TEST(TargetsTest, WhatAPodAsksForIsOnItsOwnAddress) {
  Job job = JobOf(
      "  relabel_configs:\n"
      "  - {source_labels: [__meta_wanted], target_label: __address__}\n");
  const auto asked = [&](const std::string& address, const std::string& wanted) {
    const LabelSet of_pod = {{"__meta_wanted", wanted}};
    return MakeTarget(job, DiscoveredLabels(job, {{"__address__", address}}, of_pod)).status();
  };
  EXPECT_TRUE(asked("10.0.0.5:80", "10.0.0.6:80").ok()) << "the operator may";
  job.asked_for_by_pods = true;
  EXPECT_TRUE(asked("10.0.0.5", "10.0.0.5:9102").ok());
  EXPECT_TRUE(asked("10.0.0.5:80", "10.0.0.5").ok());
  EXPECT_TRUE(asked("fd00::1", "[fd00::1]:80").ok());
  EXPECT_TRUE(asked("[fd00::1]:80", "[fd00::1]:81").ok());
  for (const char* other : {"10.0.0.6:80", "10.0.0.50", "[fd00::1]:80", "localhost"}) {
    EXPECT_EQ(asked("10.0.0.5:80", other).message(),
              "__address__ is not that of the pod which asks for it")
        << other;
  }
}

TEST(TargetsTest, AnAddressIsAHostAndAPort) {
  const Job job = JobOf("");
  const auto is_one = [&](const std::string& address) {
    return MakeTarget(job, DiscoveredLabels(job, {{"__address__", address}}, {})).ok();
  };
  for (const char* address : {"h", "h:1", "a.b_c-d:80", "10.0.0.1:80", "[fd00::1]:80", "[fd00::1]",
                              "[fe80::1%eth0]:80"}) {
    EXPECT_TRUE(is_one(address)) << address;
  }
  for (const char* address :
       {"h/", "u@h:1", "10.0.0.5;x:80", "h?x:1", "h#x:1", "h\\x:1", "h x:1", "h\n:1", "h\x7f"}) {
    EXPECT_FALSE(is_one(address)) << address;
  }
}

TEST(TargetsTest, AnAnnotatedPodThatDeclaresNoPortIsScrapedByIPv6Too) {
  const std::string annotation = "__meta_kubernetes_pod_annotation_prometheus_io_";
  const auto instance_at = [&](const std::string& port) {
    TargetGroup group;
    group.labels = {{annotation + "scrape", "true"}};
    if (!port.empty()) group.labels.emplace_back(annotation + "port", port);
    group.targets = {{{"__address__", "fd00::1"}}};
    const Targets targets = MakeTargets(AnnotatedPods(absl::Seconds(1)), {&group, 1});
    const std::string instance(promql::LabelValue(targets.active.at(0).sample_labels, "instance"));
    EXPECT_EQ(targets.active[0].origin, "http://" + instance);
    return instance;
  };
  EXPECT_EQ(instance_at("9102"), "[fd00::1]:9102");
  EXPECT_EQ(instance_at(""), "[fd00::1]");
}

TEST(TargetsTest, AnAnnotatedPortIsScrapedOnceHoweverManyContainersThereAre) {
  const std::string prefix = "__meta_kubernetes_pod_";
  const auto container_at = [&](const std::string& port) {
    TargetGroup group;
    group.labels = {{prefix + "annotation_prometheus_io_port", port},
                    {prefix + "annotation_prometheus_io_scrape", "true"}};
    const std::string name = prefix + "container_name";
    group.targets = {{{"__address__", "10.0.0.1:15090"}, {name, "istio-proxy"}},
                     {{"__address__", "10.0.0.1:8080"}, {name, "app"}},
                     {{"__address__", "10.0.0.1"}, {name, "init"}}};
    const Targets targets = MakeTargets(AnnotatedPods(absl::Seconds(1)), {&group, 1});
    EXPECT_EQ(targets.active.size(), 1u);
    EXPECT_EQ(targets.active.at(0).origin, "http://10.0.0.1:" + port);
    return std::string(promql::LabelValue(targets.active.at(0).sample_labels, "container"));
  };
  EXPECT_EQ(container_at("8080"), "app");
  EXPECT_EQ(container_at("15020"), "istio-proxy");  // nobody's: the first
}

TEST(TargetsTest, OfAnnotatedPodsOnlyTheLabelsThatRulesReadAreKept) {
  const Job job = AnnotatedPods(absl::Seconds(1));
  const LabelSet needed = {{"__meta_kubernetes_namespace", "shop"},
                           {"__meta_kubernetes_pod_annotation_prometheus_io_path", "/m"}};
  LabelSet labels = needed;
  labels.emplace_back("__meta_kubernetes_pod_annotation_z", std::string(200'000, 'z'));
  EXPECT_EQ(LabelsForRules(job, labels), needed);
}

TEST(TargetsTest, AValueThatIsTooLongStaysTooLongAndMatchesAsBefore) {
  const Job job = AnnotatedPods(absl::Seconds(1));
  std::string path = "/";
  while (path.size() < 200'000) absl::StrAppend(&path, "ä");
  const LabelSet kept =
      LabelsForRules(job, {{"__meta_kubernetes_pod_annotation_prometheus_io_path", path},
                           {"__meta_kubernetes_pod_annotation_prometheus_io_scrape", "true"}});
  EXPECT_LE(kept.at(0).second.size(), 2052u);
  EXPECT_EQ(MakeTarget(job, DiscoveredLabels(job, {{"__address__", "10.0.0.1:80"}}, kept))
                .status()
                .message(),
            "the value of \"__metrics_path__\" takes more than 2048 bytes");
}

TEST(TargetsTest, AnnotatedPodsWithALongPathAreRefused) {
  const Job job = AnnotatedPods(absl::Seconds(1));
  TargetGroup group;
  group.targets = {{{"__address__", "10.0.0.1:80"}}};
  const auto of_path = [&](size_t bytes) {
    group.labels = {
        {"__meta_kubernetes_pod_annotation_prometheus_io_path", "/" + std::string(bytes - 1, 'p')},
        {"__meta_kubernetes_pod_annotation_prometheus_io_scrape", "true"}};
    return MakeTargets(job, {&group, 1});
  };
  EXPECT_EQ(of_path(2048).active.size(), 1u);
  EXPECT_TRUE(of_path(2049).active.empty());
  const LabelSet discovered = DiscoveredLabels(job, group.targets[0], group.labels);
  EXPECT_EQ(MakeTarget(job, discovered).status().message(),
            "the value of \"__metrics_path__\" takes more than 2048 bytes");
}

}  // namespace
}  // namespace flyball::scrape
