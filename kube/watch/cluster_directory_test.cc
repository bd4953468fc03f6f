#include "kube/watch/cluster_directory.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/notification.h"
#include "base/clock.h"
#include "base/test_thread_limit.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/testing/fake_api_server.h"

namespace flyball::kube {
namespace {

using testing::HasSubstr;

std::string Object(const std::string& name, const std::string& version,
                   const std::string& app = "a", const std::string& ns = "shop") {
  return absl::StrCat(R"({"metadata":{"name":")", name, R"(","namespace":")", ns,
                      R"(","resourceVersion":")", version, R"(","labels":{"app":")", app,
                      R"("}}})");
}

std::string List(const std::vector<std::string>& objects, const std::string& version,
                 const std::string& next = "") {
  return absl::StrCat(R"({"metadata":{"resourceVersion":")", version, R"(","continue":")", next,
                      R"("},"items":[)", absl::StrJoin(objects, ","), "]}");
}

std::string Event(const std::string& type, const std::string& object) {
  return absl::StrCat(R"({"type":")", type, R"(","object":)", object, "}\n");
}

// An API server by script. Answers stand under the start of a target and are used up one by one,
// the last stays. A watch first gets what its script holds, then whatever Push brings, until it is
// ended or its transport is shut down.
class FakeApi {
 public:
  struct Watch {
    std::vector<std::string> pieces;
    // What the stream returns after them; not set: it stays open.
    std::optional<absl::Status> end;
  };

  FakeApi() {
    Answer("/api", 200, R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{},"versions":[
      {"version":"v1","resources":[
        {"resource":"pods","responseKind":{"kind":"Pod"},"scope":"Namespaced",
         "singularResource":"pod","verbs":["list","watch"]},
        {"resource":"lists","responseKind":{"kind":"L"},"scope":"Namespaced","verbs":["list"]}]}]}]})");
    Answer("/apis", 200, R"({"kind":"APIGroupDiscoveryList","items":[]})");
  }

  void Answer(const std::string& target, int status, const std::string& body) {
    absl::MutexLock lock(&mutex_);
    http::HttpAnswer answer;
    answer.status = status;
    answer.body = body;
    answers_[target].push_back(answer);
  }
  // Replaces what is left of the script.
  void AnswerNow(const std::string& target, int status, const std::string& body) {
    {
      absl::MutexLock lock(&mutex_);
      answers_[target].clear();
    }
    Answer(target, status, body);
  }
  void AddWatch(Watch watch) {
    absl::MutexLock lock(&mutex_);
    watches_.push_back(std::move(watch));
  }
  // To the open watch.
  void Push(const std::string& piece) {
    absl::MutexLock lock(&mutex_);
    pushed_.push_back(piece);
  }
  void SetDead(bool dead) {
    absl::MutexLock lock(&mutex_);
    dead_ = dead;
  }
  std::vector<std::string> Requests() {
    absl::MutexLock lock(&mutex_);
    return requests_;
  }
  int CountRequests(absl::string_view part) {
    int count = 0;
    for (const std::string& request : Requests()) count += absl::StrContains(request, part) ? 1 : 0;
    return count;
  }
  void AwaitRequests(absl::string_view part, int count) {
    while (CountRequests(part) < count) {
      absl::MutexLock lock(&mutex_);
      const size_t seen = requests_.size();
      const auto more = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return requests_.size() > seen; };
      mutex_.AwaitWithTimeout(absl::Condition(&more), absl::Milliseconds(10));
    }
  }

  ClusterDirectory::MakeTransport Transports() {
    return [this]() -> absl::StatusOr<std::unique_ptr<http::HttpTransport>> {
      return std::make_unique<Transport>(*this);
    };
  }

 private:
  class Transport : public http::HttpTransport {
   public:
    explicit Transport(FakeApi& api) : api_(api) {}
    absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall& call) override {
      return api_.Do(call);
    }
    absl::Status Stream(const http::HttpCall& call,
                        const std::function<bool(absl::string_view)>& on_data) override {
      return api_.Stream(call, on_data, shut_down_);
    }
    void Shutdown() override {
      absl::MutexLock lock(&api_.mutex_);
      shut_down_ = true;
    }

   private:
    FakeApi& api_;
    bool shut_down_ = false;
  };

  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall& call) {
    absl::MutexLock lock(&mutex_);
    requests_.push_back(call.target);
    if (dead_) return absl::UnavailableError("connection refused");
    std::deque<http::HttpAnswer>* best = nullptr;
    size_t best_size = 0;
    for (auto& [target, answers] : answers_) {
      if (absl::StartsWith(call.target, target) && target.size() >= best_size) {
        best = &answers;
        best_size = target.size();
      }
    }
    if (best == nullptr || best->empty()) return absl::NotFoundError("no script");
    http::HttpAnswer answer = best->front();
    if (best->size() > 1) best->pop_front();
    return answer;
  }

  absl::Status StreamList(const http::HttpCall& call,
                          const std::function<bool(absl::string_view)>& on_data) {
    const absl::StatusOr<http::HttpAnswer> answer = Do(call);
    if (!answer.ok()) return answer.status();
    if (answer->status != 200)
      return absl::Status(http::HttpStatusCode(answer->status), answer->body);
    if (on_data("")) on_data(answer->body);
    return absl::OkStatus();
  }

  absl::Status Stream(const http::HttpCall& call,
                      const std::function<bool(absl::string_view)>& on_data,
                      const bool& shut_down) {
    if (!absl::StrContains(call.target, "watch=1")) return StreamList(call, on_data);
    Watch watch;
    {
      absl::MutexLock lock(&mutex_);
      requests_.push_back(call.target);
      if (!watches_.empty()) {
        watch = std::move(watches_.front());
        watches_.pop_front();
      }
    }
    const bool refused = watch.pieces.empty() && watch.end.has_value() && !watch.end->ok();
    if (!refused && !on_data("")) return absl::OkStatus();
    for (const std::string& piece : watch.pieces) {
      if (!on_data(piece)) return absl::OkStatus();
    }
    if (watch.end.has_value()) return *watch.end;
    while (true) {
      std::string piece;
      {
        absl::MutexLock lock(&mutex_);
        const auto ready = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
          return shut_down || !pushed_.empty();
        };
        mutex_.Await(absl::Condition(&ready));
        if (shut_down) return absl::CancelledError("shut down");
        piece = std::move(pushed_.front());
        pushed_.pop_front();
      }
      if (!on_data(piece)) return absl::OkStatus();
    }
  }

  absl::Mutex mutex_;
  std::map<std::string, std::deque<http::HttpAnswer>> answers_;
  std::deque<Watch> watches_;
  std::deque<std::string> pushed_;
  std::vector<std::string> requests_;
  bool dead_ = false;
};

class ClusterDirectoryTest : public testing::Test {
 protected:
  ClusterDirectoryTest() {
    options_.cache.watch.first_backoff = absl::Milliseconds(1);
    options_.cache.watch.max_backoff = absl::Milliseconds(5);
    options_.missed_interval = absl::Milliseconds(1);
    options_.list_reuse = absl::Milliseconds(1);
    options_.watch_kinds = false;
  }

  ClusterDirectory& Directory() {
    if (directory_ == nullptr)
      directory_ = *ClusterDirectory::Make(api_.Transports(), Clock::System(), options_);
    return *directory_;
  }

  std::string Names(const std::string& selector = "", const std::string& resource = "pods",
                    const std::string& ns = "shop") {
    ObjectQuery query;
    query.resource = {"", resource};
    query.ns = ns;
    query.selector = *Selector::Parse(selector);
    const auto objects = Directory().List(query);
    if (!objects.ok()) return absl::StrCat("error ", objects.status().ToString());
    return absl::StrJoin(*objects, " ", [](std::string* out, const ObjectPtr& object) {
      absl::StrAppend(out, object->name);
    });
  }

  // Asks again after each change until the answer is `want`.
  void AwaitNames(const std::string& want, const std::string& selector = "") {
    for (int i = 0; i < 30'000; ++i) {
      if (Names(selector) == want) return;
      absl::Notification never;
      never.WaitForNotificationWithTimeout(absl::Milliseconds(1));
    }
    EXPECT_EQ(Names(selector), want);
  }

  void AwaitKept() {
    for (int i = 0; i < 30'000 && !Directory().Kept().ok(); ++i) {
      absl::Notification never;
      never.WaitForNotificationWithTimeout(absl::Milliseconds(1));
    }
    EXPECT_TRUE(Directory().Kept().ok()) << Directory().Kept();
  }

  FakeApi api_;
  ClusterDirectoryOptions options_;
  std::unique_ptr<ClusterDirectory> directory_;
};

TEST_F(ClusterDirectoryTest, ObjectsAreListedOnceAndThenWatched) {
  api_.Answer("/api/v1/pods", 200,
              List({Object("b", "1"), Object("c", "2", "x"), Object("a", "3")}, "9"));
  EXPECT_EQ(Names(), "a b c");
  EXPECT_EQ(Names("app=x"), "c");
  api_.Push(Event("ADDED", Object("d", "10")) + Event("MODIFIED", Object("c", "11", "y")));
  AwaitNames("a b c d");
  EXPECT_EQ(Names("app=x"), "");
  api_.Push(Event("DELETED", Object("b", "12")));
  AwaitNames("a c d");
  EXPECT_EQ(api_.CountRequests("resourceVersion=0"), 1);
  EXPECT_EQ(api_.CountRequests("resourceVersion=9&"), 1);
}

TEST_F(ClusterDirectoryTest, GenerationGrowsOnlyWithWhatIsKept) {
  api_.Answer("/api/v1/pods", 200, List({Object("a", "1")}, "1"));
  ASSERT_EQ(Names(), "a");
  api_.AwaitRequests("watch=1", 1);
  const uint64_t before = Directory().Generation();
  // A status change: same labels. Then a bookmark, then a new label.
  api_.Push(Event("MODIFIED", Object("a", "2")));
  api_.Push(Event("BOOKMARK", R"({"metadata":{"resourceVersion":"3"}})"));
  api_.Push(Event("MODIFIED", Object("a", "4", "new")));
  AwaitNames("a", "app=new");
  while (Directory().Generation() == before) std::this_thread::yield();  // it follows the names
  EXPECT_EQ(Directory().Generation(), before + 1);
  EXPECT_EQ(Directory().stats().events, 3u);
}

TEST_F(ClusterDirectoryTest, EventsMayBeCutAnywhere) {
  api_.Answer("/api/v1/pods", 200, List({}, "1"));
  ASSERT_EQ(Names(), "");
  for (const char byte : Event("ADDED", Object("a", "2")) + Event("ADDED", Object("b", "3"))) {
    api_.Push(std::string(1, byte));
  }
  AwaitNames("a b");
}

TEST_F(ClusterDirectoryTest, BrokenWatchGoesOnFromTheLastVersion) {
  api_.Answer("/api/v1/pods", 200, List({}, "1"));
  api_.Answer("/api/v1/pods?limit=1", 200, List({}, "7"));  // the server was not set back
  api_.AddWatch({{Event("ADDED", Object("a", "7"))}, absl::UnavailableError("cut")});
  api_.AddWatch({{Event("BOOKMARK", R"({"metadata":{"resourceVersion":"8"}})")}, absl::OkStatus()});
  ASSERT_THAT(Names(), testing::AnyOf("", "a"));
  api_.AwaitRequests("watch=1", 3);
  EXPECT_EQ(api_.CountRequests("resourceVersion=1&"), 1);
  EXPECT_EQ(api_.CountRequests("resourceVersion=7&"), 1);
  EXPECT_EQ(api_.CountRequests("resourceVersion=8&"), 1);
  EXPECT_EQ(api_.CountRequests("resourceVersion=0"), 1);
  EXPECT_EQ(Names(), "a");
}

class ExpiredTest : public ClusterDirectoryTest,
                    public testing::WithParamInterface<FakeApi::Watch> {};

TEST_P(ExpiredTest, ExpiredVersionIsListedAnew) {
  api_.Answer("/api/v1/pods", 200, List({Object("a", "1")}, "1"));
  api_.Answer("/api/v1/pods", 200, List({Object("b", "5")}, "5"));
  api_.AddWatch(GetParam());
  ASSERT_THAT(Names(), testing::AnyOf("a", "b"));
  AwaitNames("b");
  api_.AwaitRequests("resourceVersion=5&", 1);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, ExpiredTest,
    testing::Values(FakeApi::Watch{{}, absl::OutOfRangeError("410")},
                    FakeApi::Watch{{"{\"type\":\"ERROR\",\"object\":{\"code\":410}}\n"}, {}},
                    FakeApi::Watch{{"{\"type\":\"ERROR\",\"object\":{\"code\":500}}\n"}, {}}));

TEST_F(ClusterDirectoryTest, DeadServerIsUnavailableUntilItComesUp) {
  api_.SetDead(true);
  EXPECT_THAT(Names(), HasSubstr("UNAVAILABLE: connection refused"));
  EXPECT_FALSE(Directory().Ready().ok());
  api_.Answer("/api/v1/pods", 200, List({Object("a", "1")}, "1"));
  api_.SetDead(false);
  AwaitNames("a");
  EXPECT_TRUE(Directory().Ready().ok());
  // Later on the last known objects are served.
  api_.SetDead(true);
  EXPECT_EQ(Names(), "a");
}

TEST_F(ClusterDirectoryTest, WhatIsKeptIsKnownBeforeAnybodyAsksAndAfterALongSilence) {
  options_.unused_after = absl::ZeroDuration();
  api_.Answer("/api/v1/pods", 200, List({Object("a", "1")}, "1"));
  Directory().Keep({{.resource = {"", "pods"}, .running_only = false}});
  AwaitKept();
  EXPECT_EQ(api_.CountRequests("resourceVersion=0"), 1);
  api_.SetDead(true);
  // Several rounds of tidying up, which stop what is not used.
  const int discoveries = static_cast<int>(Directory().stats().discoveries);
  while (Directory().stats().discoveries < static_cast<uint64_t>(discoveries) + 3) {
    Directory().ResourceMissed();
    std::this_thread::yield();
  }
  EXPECT_EQ(Names(), "a");
  EXPECT_EQ(api_.CountRequests("resourceVersion=0"), 1);
}

TEST_F(ClusterDirectoryTest, WhatIsKeptIsNotThereUntilItHasBeenListed) {
  api_.SetDead(true);
  Directory().Keep({{.resource = {"", "pods"}, .running_only = true}});
  EXPECT_EQ(Directory().Kept().code(), absl::StatusCode::kUnavailable);
  api_.Answer("/api/v1/pods", 200, List({Object("a", "1")}, "1"));
  api_.SetDead(false);
  AwaitKept();
  Directory().Keep({});
  EXPECT_TRUE(Directory().Kept().ok());
}

TEST_F(ClusterDirectoryTest, WhatMayNotBeListedKeepsNobodyWaiting) {
  api_.Answer("/api/v1/pods", 403, "{}");
  Directory().Keep({{.resource = {"", "pods"}, .running_only = false}});
  AwaitKept();
}

TEST_F(ClusterDirectoryTest, WithoutAThreadForAWatchThereIsAnErrorAndNoEnd) {
  while (!Directory().Ready().ok()) std::this_thread::yield();
  api_.Answer("/api/v1/pods", 200, List({Object("a", "1")}, "1"));
  {
    const ThreadLimit none;
    EXPECT_THAT(Names(), HasSubstr("no thread can be made"));
  }
  EXPECT_EQ(Names(), "a");
}

TEST_F(ClusterDirectoryTest, HangingFirstListMeetsTheTimeout) {
  api_.Answer("/api/v1/pods", 200, "");
  ObjectQuery query;
  query.resource = {"", "pods"};
  query.timeout = absl::ZeroDuration();
  EXPECT_EQ(Directory().List(query).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(ClusterDirectoryTest, ForbiddenWatchFallsBackToLists) {
  api_.Answer("/api/v1/pods", 200, List({Object("a", "1")}, "1"));
  api_.Answer("/api/v1/namespaces/shop/pods", 200, List({Object("a", "1")}, "1"));
  for (int i = 0; i < 10'000; ++i) api_.AddWatch({{}, absl::PermissionDeniedError("no watch")});
  EXPECT_EQ(Names(), "a");
  const uint64_t before = Directory().Generation();
  api_.AwaitRequests("watch=1", 2);
  api_.AnswerNow("/api/v1/namespaces/shop/pods", 200, List({Object("b", "1")}, "1"));
  AwaitNames("b");
  // Grows when the directory tidies up, at each list_reuse.
  while (Directory().Generation() <= before) std::this_thread::yield();
}

TEST_F(ClusterDirectoryTest, ResourceWithoutWatchIsListed) {
  api_.Answer("/api/v1/namespaces/shop/lists", 200, List({Object("a", "1")}, "1"));
  EXPECT_EQ(Names("", "lists"), "a");
  EXPECT_EQ(api_.CountRequests("watch=1"), 0);
}

TEST_F(ClusterDirectoryTest, ForbiddenListIsSaid) {
  api_.Answer("/api/v1/pods", 403, R"({"kind":"Status","message":"pods is forbidden"})");
  api_.Answer("/api/v1/namespaces/shop/pods", 403, R"({"message":"pods is forbidden"})");
  EXPECT_EQ(Names(),
            "error PERMISSION_DENIED: list /api/v1/namespaces/shop/pods: pods is forbidden");
}

TEST_F(ClusterDirectoryTest, TooManyObjectsIsAnError) {
  options_.cache.max_objects = 1;
  api_.Answer("/api/v1/pods", 200, List({Object("a", "1"), Object("b", "1")}, "1"));
  EXPECT_THAT(Names(), HasSubstr("RESOURCE_EXHAUSTED"));
}

TEST_F(ClusterDirectoryTest, RunningOnlyIsACacheOfItsOwn) {
  api_.Answer("/api/v1/pods?resourceVersion=0", 200,
              List({Object("a", "1"), Object("b", "1")}, "1"));
  api_.Answer("/api/v1/pods?resourceVersion=0&fieldSelector=status.phase%3DRunning", 200,
              List({Object("b", "1")}, "1"));
  EXPECT_EQ(Names(), "a b");
  EXPECT_EQ(*Directory().Get({"", "pods"}, "shop", "a", true), nullptr);
  EXPECT_EQ((*Directory().Get({"", "pods"}, "shop", "b", true))->name, "b");
  EXPECT_NE(*Directory().Get({"", "pods"}, "shop", "a", false), nullptr);
}

TEST_F(ClusterDirectoryTest, UnknownResourceIsDiscoveredSoon) {
  EXPECT_THAT(Names("", "widgets"), HasSubstr("NOT_FOUND"));
  const uint64_t before = Directory().Generation();
  api_.AnswerNow("/apis", 200, R"({"kind":"APIGroupDiscoveryList","items":[
    {"metadata":{"name":"example.com"},"versions":[{"version":"v1","resources":[
      {"resource":"widgets","responseKind":{"kind":"Widget"},"scope":"Namespaced",
       "verbs":["list","watch"]}]}]}]})");
  while (Directory().mapper()->FindQualified("widget") == nullptr ||
         Directory().Generation() <= before) {
    Directory().ResourceMissed();
    std::this_thread::yield();
  }
}

// New kinds, without anybody missing them.
class NewKindsTest : public testing::Test {
 protected:
  NewKindsTest() {
    options_.missed_interval = options_.list_reuse = absl::Milliseconds(1);
    options_.settle = absl::ZeroDuration();
  }
  void MakeWidgets() {
    server_.AddKind({.name = {"example.com", "widgets"},
                     .version = "v1",
                     .kind = "Widget",
                     .singular = "widget"});
    server_.Put(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
                    "metadata":{"name":"widgets.example.com"}})");
  }
  static bool Knows(ClusterDirectory& directory) {
    return directory.mapper()->FindKind("example.com", "Widget") != nullptr;
  }

  FakeApiServer server_;
  ClusterDirectoryOptions options_;
};

TEST_F(NewKindsTest, AreSeenWhenTheirDefinitionComes) {
  const auto directory = *ClusterDirectory::Make(server_.Connector(), Clock::System(), options_);
  ASSERT_TRUE(server_.AwaitWatches(2));
  ASSERT_FALSE(Knows(*directory));
  MakeWidgets();
  while (!Knows(*directory)) std::this_thread::yield();
}

// An answer that was begun before the change had effect may not show it, however late it comes.
TEST_F(NewKindsTest, AreAskedForOnceMoreWhenSettled) {
  options_.settle = absl::Seconds(2);
  absl::Notification asked, settled;
  const auto directory = *ClusterDirectory::Make(server_.Connector(), Clock::System(), options_);
  const auto settle = [&] {
    const MonotonicTime end = Clock::System().MonotonicNow() + options_.settle;
    while (Clock::System().MonotonicNow() <= end) std::this_thread::yield();
  };
  ASSERT_TRUE(server_.AwaitWatches(2));
  settle();  // the lists at the start count as a change too
  settle();
  const int before = server_.CountRequests("GET", "/apis");
  server_.OnRequest([&](const http::HttpCall& call) {
    if (call.target != "/apis") return;
    if (!asked.HasBeenNotified()) asked.Notify();
    settled.WaitForNotification();
  });
  server_.Put(R"({"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService",
                  "metadata":{"name":"v1.example.com"}})");
  asked.WaitForNotification();
  settle();
  settled.Notify();
  EXPECT_TRUE(server_.AwaitRequests("GET", "/apis", before + 2));
}

TEST_F(NewKindsTest, ForbiddenWatchIsNoMatter) {
  server_.Inject({.part = "/apiservices", .times = 1000, .status = 403});
  const auto directory = *ClusterDirectory::Make(server_.Connector(), Clock::System(), options_);
  ASSERT_TRUE(server_.AwaitRequests("GET", "/apiservices", 1));
  server_.AddKind({.name = {"example.com", "widgets"},
                   .version = "v1",
                   .kind = "Widget",
                   .singular = "widget"});
  directory->ResourceMissed();
  while (!Knows(*directory)) std::this_thread::yield();
}

TEST_F(ClusterDirectoryTest, UnusedCacheIsStoppedAndComesBack) {
  options_.unused_after = absl::ZeroDuration();
  api_.Answer("/api/v1/pods", 200, List({Object("a", "1")}, "1"));
  ASSERT_EQ(Names(), "a");
  while (Directory().stats().caches != 0) std::this_thread::yield();
  // Once each for discovery, the list, and the end of the cache.
  while (Directory().Generation() < 3) std::this_thread::yield();
  EXPECT_EQ(Names(), "a");
}

}  // namespace
}  // namespace flyball::kube
