// Fakes for tests of the API server: providers with fixed values, and a scripted Kubernetes API.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "adapter/provider.h"
#include "http/client/transport.h"

namespace flyball::apiservice {

inline const absl::Time kTestTime = absl::FromUnixSeconds(1772600767);  // 2026-03-04T05:06:07Z

// Pods web-1 and web-2 with metric m; nodes/load; namespaces/nsm; anything else is not found.
class FakeCustomMetrics : public adapter::CustomMetricsProvider {
 public:
  absl::StatusOr<adapter::CustomMetricList> Get(const adapter::CustomMetricRequest& r) override {
    ++calls;
    if (on_get) on_get(r);
    if (!error.ok()) return error;
    adapter::CustomMetricList list;
    list.metric = r.metric;
    list.metric_selector = r.metric_selector;
    list.timestamp = kTestTime;
    list.freshness = freshness;
    if (r.namespace_itself && r.metric == "nsm") {
      list.items.push_back({{"Namespace", "/v1", "", r.name}, 7000});
      return list;
    }
    if (r.resource == "nodes" && r.metric == "load") {
      list.items.push_back({{"Node", "/v1", "", r.name}, 1500});
      return list;
    }
    const bool pods = r.resource == "pods" || r.resource == "pod";
    if (!pods || r.metric != "m") return NotFound(r);
    for (int i = 1; i <= pods_count; ++i) {
      const std::string name = absl::StrCat("web-", i);
      const bool wanted =
          r.name == "*" ? r.object_selector.Matches({{"app", "web"}}) : r.name == name;
      if (wanted) list.items.push_back({{"Pod", "/v1", *r.ns, name}, 1500});
    }
    if (list.items.empty() && r.name != "*") return NotFound(r);
    return list;
  }
  std::shared_ptr<const std::vector<adapter::CustomMetricInfo>> ListAll() const override {
    return infos;
  }
  uint64_t Epoch() const override { return epoch; }

  static absl::Status NotFound(const adapter::CustomMetricRequest& r) {
    return absl::NotFoundError(absl::StrCat("the server could not find the metric ", r.metric,
                                            " for ", r.resource, r.name == "*" ? "" : " ",
                                            r.name == "*" ? "" : r.name));
  }

  std::atomic<int> calls{0};
  std::atomic<uint64_t> epoch{1};
  int pods_count = 2;
  absl::Status error;
  Freshness freshness;
  std::function<void(const adapter::CustomMetricRequest&)> on_get;
  std::shared_ptr<const std::vector<adapter::CustomMetricInfo>> infos =
      std::make_shared<const std::vector<adapter::CustomMetricInfo>>(
          std::vector<adapter::CustomMetricInfo>{{{"", "namespaces"}, false, "nsm"},
                                                 {{"", "nodes"}, false, "load"},
                                                 {{"", "pods"}, true, "m"},
                                                 {{"apps", "deployments"}, true, "d"}});
};

// With a list of that many metrics of pods.
inline std::shared_ptr<FakeCustomMetrics> FakeMetricsOfPods(int count) {
  std::vector<adapter::CustomMetricInfo> infos;
  for (int i = 0; i < count; ++i) infos.push_back({{"", "pods"}, true, absl::StrCat("m", i)});
  auto custom = std::make_shared<FakeCustomMetrics>();
  custom->infos = std::make_shared<const std::vector<adapter::CustomMetricInfo>>(std::move(infos));
  return custom;
}

// q with the series {queue=a} and {queue=b}.
class FakeExternalMetrics : public adapter::ExternalMetricsProvider {
 public:
  absl::StatusOr<adapter::ExternalMetricList> Get(
      const adapter::ExternalMetricRequest& r) override {
    if (!error.ok()) return error;
    adapter::ExternalMetricList list;
    list.metric = r.metric;
    list.replaced = replaced;
    for (const char* queue : {"a", "b"}) {
      if (!r.selector.Matches({{"queue", queue}})) continue;
      list.items.push_back({adapter::LabelSet{{"queue", queue}}, kTestTime, 42000});
    }
    return list;
  }
  std::shared_ptr<const std::vector<std::string>> ListAll() const override { return names; }
  uint64_t Epoch() const override { return 1; }

  absl::Status error;
  std::string replaced;
  std::shared_ptr<const std::vector<std::string>> names =
      std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"q"});
};

// Pod default/web-1 and node n1.
class FakeResourceMetrics : public adapter::ResourceMetricsProvider {
 public:
  absl::StatusOr<adapter::ResourceMetricList<adapter::PodMetrics>> Pods(
      absl::string_view ns, absl::string_view name, const adapter::ObjectFilter& filter,
      absl::Duration) override {
    adapter::ResourceMetricList<adapter::PodMetrics> list;
    list.degraded = degraded;
    if (!name.empty() && name != "web-1") {
      return absl::NotFoundError(absl::StrCat("pods \"", name, "\" not found"));
    }
    auto meta = std::make_shared<kube::ObjectMeta>();
    meta->ns = "default";
    meta->name = "web-1";
    meta->labels = {{"app", "web"}};
    const bool wanted = !name.empty() || (filter.labels.Matches(meta->labels) &&
                                          (!filter.others || filter.others(*meta)));
    if ((ns.empty() || ns == meta->ns) && wanted) {
      list.items.push_back(
          {meta, kTestTime, absl::Minutes(1), {{"c", {12, int64_t{104857600} * 1000}}}});
    }
    return list;
  }
  absl::StatusOr<adapter::ResourceMetricList<adapter::NodeMetrics>> Nodes(
      absl::string_view name, const adapter::ObjectFilter&, absl::Duration) override {
    if (!name.empty() && name != "n1") {
      return absl::NotFoundError(absl::StrCat("node \"", name, "\" not found"));
    }
    auto meta = std::make_shared<kube::ObjectMeta>();
    meta->name = "n1";
    adapter::ResourceMetricList<adapter::NodeMetrics> list;
    list.items.push_back({meta, kTestTime, absl::Seconds(15), {1500, int64_t{2147483648} * 1000}});
    return list;
  }
  uint64_t Epoch() const override { return 1; }

  std::string degraded;
};

// Answers TokenReview, SubjectAccessReview and the authentication ConfigMap as scripted.
class FakeKubeApi : public http::HttpTransport {
 public:
  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall& call) override {
    absl::MutexLock lock(&mutex_);
    if (absl::StrContains(call.target, "tokenreviews")) {
      ++token_reviews;
      return on_token_review(call.body);
    }
    if (absl::StrContains(call.target, "subjectaccessreviews")) {
      access_reviews.push_back(call.body);
      return on_access_review(call.body);
    }
    if (!absl::StrContains(call.target, "extension-apiserver-authentication")) {
      return Json(404, "{}");
    }
    return absl::StrContains(call.target, "fieldSelector") ? List() : config_map;
  }

  // A list, or a watch that stays open until shutdown; Push() sends it an event.
  absl::Status Stream(const http::HttpCall& call,
                      const std::function<bool(absl::string_view)>& on_data) override {
    if (!absl::StrContains(call.target, "watch=1")) return StreamList(on_data);
    {
      absl::MutexLock lock(&mutex_);
      ++watches;
      if (!end_of_each_watch.empty()) {
        on_data(end_of_each_watch);
        return absl::OkStatus();
      }
    }
    while (true) {
      std::string event;
      {
        absl::MutexLock lock(&mutex_);
        const auto ready = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
          return stopped_ || !events_.empty();
        };
        mutex_.Await(absl::Condition(&ready));
        if (stopped_) return absl::CancelledError("shut down");
        event = events_.front();
        events_.erase(events_.begin());
      }
      if (!on_data(event)) return absl::OkStatus();
    }
  }

  void Push(std::string event) {
    absl::MutexLock lock(&mutex_);
    events_.push_back(std::move(event));
  }

  void Shutdown() override {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
  }

  static http::HttpAnswer Json(int status, std::string body) {
    http::HttpAnswer answer;
    answer.status = status;
    answer.body = std::move(body);
    return answer;
  }
  static http::HttpAnswer Allow() { return Json(201, R"({"status":{"allowed":true}})"); }
  static http::HttpAnswer Deny() {
    return Json(201, R"({"status":{"allowed":false,"reason":"no rule"}})");
  }

  using Answer = absl::StatusOr<http::HttpAnswer>;
  std::function<Answer(const std::string&)> on_token_review = [](const std::string& body) {
    if (absl::StrContains(body, "\"good\"")) {
      return Json(201,
                  R"({"status":{"authenticated":true,"user":{"username":"sa","groups":["g"]}}})");
    }
    return Json(201, R"({"status":{"authenticated":false}})");
  };
  std::function<Answer(const std::string&)> on_access_review = [](const std::string&) {
    return Allow();
  };
  Answer config_map = Json(404, "{}");
  std::string end_of_each_watch;  // "": a watch stays open
  int watches = 0;
  int token_reviews = 0;
  std::vector<std::string> access_reviews;
  absl::Mutex& mutex() { return mutex_; }

 private:
  // The list that consists of the ConfigMap.
  Answer List() const {
    if (!config_map.ok() || config_map->status != 200) return config_map;
    return Json(200, absl::StrCat(R"({"metadata":{"resourceVersion":"7"},"items":[)",
                                  config_map->body, "]}"));
  }

  absl::Status StreamList(const std::function<bool(absl::string_view)>& on_data) {
    Answer list;
    {
      absl::MutexLock lock(&mutex_);
      if (stopped_) return absl::CancelledError("shut down");
      list = List();
    }
    if (!list.ok()) return list.status();
    if (list->status != 200) return absl::Status(http::HttpStatusCode(list->status), list->body);
    on_data(list->body);
    return absl::OkStatus();
  }

  absl::Mutex mutex_;
  std::vector<std::string> events_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace flyball::apiservice
