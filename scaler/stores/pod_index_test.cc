#include "scaler/stores/pod_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scaler/math/pods.h"

namespace flyball::scaler {
namespace {

Pod MakePod(const std::string& ns, const std::string& name, kube::Labels labels,
            const char* cpu = "1") {
  Pod pod;
  pod.ns = ns;
  pod.name = name;
  pod.labels = std::move(labels);
  pod.phase = PodPhase::kRunning;
  Container container;
  container.name = "app";
  container.requests = {{"cpu", *kube::Quantity::Parse(cpu)}};
  pod.containers.push_back(std::move(container));
  return pod;
}

MetricSpec CpuUtilization() {
  MetricSpec metric;
  metric.type = MetricType::kResource;
  metric.resource = "cpu";
  metric.target.average_utilization = 50;
  return metric;
}

std::string RowsOf(const PodTable& table) {
  std::string out;
  const RequestColumn* requests = table.Requests("cpu", "");
  for (size_t i = 0; i < table.size(); ++i) {
    absl::StrAppend(&out, table.name(i), ":", static_cast<int>(table.rows()[i].phase), ":",
                    table.rows()[i].deleting, ":", requests == nullptr ? -1 : requests->milli[i],
                    " ");
  }
  if (requests != nullptr) absl::StrAppend(&out, requests->error);
  return out;
}

AutoscalerKey Hpa(const std::string& name) { return {AutoscalerKind::kHpa, "shop", name}; }

// The same as the index, by looking at everything each time.
struct Plain {
  std::map<std::string, Pod> pods;  // by name, in one namespace
  std::map<std::string, std::string> selectors;

  std::string Rows(const std::string& text, const std::vector<MetricSpec>& metrics) const {
    const kube::Selector selector = *kube::Selector::Parse(text);
    std::vector<const Pod*> found;
    for (const auto& [name, pod] : pods) {
      if (selector.Matches(pod.labels)) found.push_back(&pod);
    }
    return RowsOf(PodTable(found, metrics, {}));
  }
  std::string Rivals(const std::string& text) const {
    const kube::Selector selector = *kube::Selector::Parse(text);
    std::vector<std::string> found;
    for (const auto& [name, of] : selectors) {
      const kube::Selector other = *kube::Selector::Parse(of);
      const bool share = std::any_of(pods.begin(), pods.end(), [&](const auto& pod) {
        return selector.Matches(pod.second.labels) && other.Matches(pod.second.labels);
      });
      if (share) found.push_back("shop/" + name);
    }
    return absl::StrJoin(found, " ");
  }
};

TEST(PodIndex, SaysWhatLookingAtEverythingSays) {
  const std::vector<std::string> selectors = {
      "app=a",        "app=b",         "app in (a,b)",  "app",
      "!app",         "tier!=x",

      "app=a,tier=x", "tier in (x,y)", "app notin (a)", "tier=x,app in (a,c)"};
  const std::vector<MetricSpec> metrics = {CpuUtilization()};
  std::mt19937 random(11);
  const auto any = [&](const std::vector<std::string>& from) {
    return from[random() % from.size()];
  };
  PodIndex index;
  Plain plain;
  std::map<std::string, SelectedPods*> groups;
  std::map<std::string, std::pair<uint64_t, std::string>> seen;  // version and what it meant
  for (int step = 0; step < 4000; ++step) {
    const std::string pod_name = absl::StrCat("p", random() % 30);
    const std::string user = absl::StrCat("hpa", random() % 8);
    switch (random() % 5) {
      case 0:
      case 1: {
        kube::Labels labels;
        if (random() % 4 != 0) labels["app"] = any({"a", "b", "c"});
        if (random() % 2 != 0) labels["tier"] = any({"x", "y"});
        Pod pod = MakePod("shop", pod_name, labels, random() % 2 == 0 ? "1" : "500m");
        if (random() % 4 == 0) pod.phase = PodPhase::kFailed;
        if (random() % 9 == 0) pod.containers[0].requests.clear();
        index.Put(pod, absl::StrCat("node", random() % 3), 1);
        plain.pods[pod_name] = pod;
        break;
      }
      case 2:
        index.Remove("shop", pod_name);
        plain.pods.erase(pod_name);
        break;
      case 3: {
        const std::string text = any(selectors);
        groups[user] = index.Select(Hpa(user), *kube::Selector::Parse(text), text);
        plain.selectors[user] = text;
        seen.erase(user);
        break;
      }
      case 4:
        index.Forget(Hpa(user));
        groups.erase(user);
        plain.selectors.erase(user);
        seen.erase(user);
        break;
    }
    EXPECT_EQ(index.size(), plain.pods.size());
    for (const auto& [name, group] : groups) {
      const std::string& text = plain.selectors[name];
      const std::string expected = plain.Rows(text, metrics) + " rivals " + plain.Rivals(text);
      const PodView view = index.View(*group, AutoscalerKind::kHpa, metrics, {});
      ASSERT_EQ(RowsOf(*view.table) + " rivals " + absl::StrJoin(view.rivals->names, " "), expected)
          << "step " << step << " " << name << " " << text;
      // An equal version has to mean equal pods and rivals.
      const auto [last, fresh] = seen.try_emplace(name, view.version, expected);
      if (!fresh && last->second.first == view.version) {
        ASSERT_EQ(last->second.second, expected) << "step " << step << " " << name;
      }
      last->second = {view.version, expected};
    }
  }
}

TEST(PodIndex, AChangeTouchesOnlyWhoSelectsThePod) {
  PodIndex index;
  SelectedPods* a = index.Select(Hpa("a"), *kube::Selector::Parse("app=a"), "app=a");
  SelectedPods* b = index.Select(Hpa("b"), *kube::Selector::Parse("app=b"), "app=b");
  index.Put(MakePod("shop", "p", {{"app", "a"}}), "", 1);
  const uint64_t version_b = b->version();
  const uint64_t before = a->version();
  index.Put(MakePod("shop", "p", {{"app", "a"}}), "", 1);  // nothing new
  EXPECT_EQ(a->version(), before);
  Pod deleting = MakePod("shop", "p", {{"app", "a"}});
  deleting.deleting = true;
  index.Put(deleting, "", 1);
  EXPECT_NE(a->version(), before);
  EXPECT_EQ(b->version(), version_b);
  index.Put(MakePod("shop", "p", {{"app", "b"}}), "", 1);  // old and new labels
  EXPECT_NE(b->version(), version_b);
  EXPECT_EQ(index.View(*a, AutoscalerKind::kHpa, {}, {}).table->size(), 0u);
}

TEST(PodIndex, OtherNamespacesAndKindsAreNoRivals) {
  PodIndex index;
  const kube::Selector selector = *kube::Selector::Parse("app=a");
  const AutoscalerKey own = {AutoscalerKind::kOwn, "shop", "own"};
  SelectedPods* hpa = index.Select(Hpa("a"), selector, "app=a");
  index.Select(own, selector, "app=a");
  index.Select({AutoscalerKind::kHpa, "other", "b"}, selector, "app=a");
  index.Put(MakePod("shop", "p", {{"app", "a"}}), "", 1);
  index.Put(MakePod("other", "q", {{"app", "a"}}), "", 1);
  const PodView view = index.View(*hpa, AutoscalerKind::kHpa, {}, {});
  EXPECT_EQ(absl::StrJoin(view.rivals->names, " "), "shop/a");
  EXPECT_EQ(RowsOf(*view.table), "p:1:0:-1 ");
}

TEST(PodIndex, WhoIsNoRivalCostsTheOthersNothing) {
  PodIndex index;
  const kube::Selector selector = *kube::Selector::Parse("app=a");
  index.Put(MakePod("shop", "p", {{"app", "a"}}), "", 1);
  const auto rivals_of = [&index](const SelectedPods* group) {
    return absl::StrJoin(index.View(*group, AutoscalerKind::kHpa, {}, {}).rivals->names, " ");
  };
  SelectedPods* const a = index.Select(Hpa("a"), selector, "app=a");
  const SelectedPods* b = index.Select(Hpa("b"), *kube::Selector::Parse("app"), "app", false);
  const uint64_t before = a->version();
  EXPECT_EQ(index.View(*b, AutoscalerKind::kHpa, {}, {}).table->size(), 1u);
  EXPECT_EQ(rivals_of(a), "shop/a");
  EXPECT_EQ(rivals_of(b), "shop/a");
  EXPECT_EQ(index.Select(Hpa("b"), *kube::Selector::Parse("app"), "app", false), b);
  EXPECT_EQ(a->version(), before);
  b = index.Select(Hpa("b"), *kube::Selector::Parse("app"), "app");
  EXPECT_NE(a->version(), before);
  EXPECT_EQ(rivals_of(a), "shop/a shop/b");
  const uint64_t with_b = a->version();
  index.Select(Hpa("b"), *kube::Selector::Parse("app"), "app", false);
  EXPECT_NE(a->version(), with_b);
  EXPECT_EQ(rivals_of(a), "shop/a");
}

// Each of the autoscalers asks after each change of a pod, and keeps the answer.
TEST(PodIndex, OfManyRivalsTheFirstAreNamedOnceForAll) {
  PodIndex index;
  for (int i = 0; i < 3; ++i) {
    const std::string name = absl::StrCat("p", i);
    index.Put(MakePod("shop", name, {{"app", "a"}, {"pod", name}}), "", 1);
  }
  const SelectedPods* last = nullptr;
  for (int i = 249; i >= 0; --i) {
    const char* text = i % 2 == 0 ? "app=a" : "app";
    last = index.Select(Hpa(absl::StrCat("hpa", 1000 + i)), *kube::Selector::Parse(text), text);
  }
  const PodView view = index.View(*last, AutoscalerKind::kHpa, {}, {});
  EXPECT_EQ(view.rivals->total, 250u);
  ASSERT_EQ(view.rivals->names.size(), Rivals::kMaxNames);
  EXPECT_EQ(view.rivals->names.front(), "shop/hpa1000");
  EXPECT_EQ(view.rivals->names.back(), "shop/hpa1099");
  EXPECT_EQ(index.View(*last, AutoscalerKind::kHpa, {}, {}).rivals, view.rivals) << "one copy";
  EXPECT_EQ(index.View(*last, AutoscalerKind::kOwn, {}, {}).rivals->total, 0u);
  index.Forget(Hpa("hpa1001"));
  EXPECT_EQ(index.View(*last, AutoscalerKind::kHpa, {}, {}).rivals->total, 249u);
}

TEST(PodIndex, AListRemovesWhatItDoesNotHold) {
  PodIndex index;
  index.Put(MakePod("shop", "old", {}), "", 1);
  index.Put(MakePod("shop", "new", {}), "", 2);
  index.Put(MakePod("other", "old", {}), "", 1);
  index.RemoveBefore("shop", 2);
  EXPECT_EQ(index.size(), 2u);
  index.RemoveBefore("", 3);
  EXPECT_EQ(index.size(), 0u);
}

TEST(PodIndex, CountsPodsAndTheirNodes) {
  PodIndex index;
  for (int i = 0; i < 6; ++i) {
    Pod pod = MakePod("shop", absl::StrCat("p", i), {{"app", "a"}});
    if (i == 5) pod.phase = PodPhase::kSucceeded;
    index.Put(pod, i < 4 ? "n1" : "n2", 1);
  }
  index.Put(MakePod("shop", "other", {{"app", "b"}}), "n3", 1);
  const auto count = [&index](absl::string_view ns, const char* text, bool distinct_nodes) {
    const kube::Selector selector = *kube::Selector::Parse(text);
    return CountMatching(index.Candidates(ns, selector), selector, distinct_nodes);
  };
  EXPECT_EQ(count("shop", "app=a", false), 5);
  EXPECT_EQ(count("shop", "app=a", true), 2);
  EXPECT_EQ(count("shop", "app=a,tier", false), 0) << "not all candidates match";
  EXPECT_EQ(count("shop", "!tier", false), 6);
  EXPECT_EQ(count("shop", "!tier", true), 3);
  EXPECT_EQ(count("none", "app=a", false), 0);
}

// A namespace may have thousands of pods that have ended, each with labels of its own.
TEST(PodIndex, LabelsOfEndedPodsAreNotCopied) {
  PodIndex index;
  Pod pod = MakePod("shop", "ended", {{"job", "1"}});
  pod.phase = PodPhase::kFailed;
  index.Put(pod, "", 1);
  EXPECT_TRUE(index.Candidates("shop", kube::Selector()).empty());
  index.Put(MakePod("shop", "running", {{"job", "1"}}), "", 1);
  EXPECT_EQ(index.Candidates("shop", kube::Selector()).size(), 1u);
}

}  // namespace
}  // namespace flyball::scaler
