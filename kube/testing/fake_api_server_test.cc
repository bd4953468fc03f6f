#include "kube/testing/fake_api_server.h"

#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "gtest/gtest.h"
#include "kube/client/api_client.h"
#include "kube/client/discovery.h"
#include "kube/client/scale.h"
#include "nlohmann/json.hpp"

namespace flyball::kube {
namespace {

using nlohmann::json;

constexpr char kWebPath[] = "/apis/apps/v1/namespaces/shop/deployments/web";
constexpr char kLeases[] = "/apis/coordination.k8s.io/v1/namespaces/shop/leases";

std::string Web(int replicas = 3) {
  return absl::StrCat(
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"},
          "spec":{"replicas":)",
      replicas, R"(,"selector":{"matchLabels":{"app":"web"}}},"status":{"replicas":2}})");
}

std::string Pod(const std::string& name, const std::string& app, const std::string& ns = "shop") {
  return absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
                      R"(","namespace":")", ns, R"(","labels":{"app":")", app,
                      R"("}},"status":{"phase":"Running"}})");
}

class FakeApiServerTest : public testing::Test {
 protected:
  std::string Names(const std::string& target) {
    http::HttpCall call;
    call.target = target;
    const auto answer = transport_->Do(call);
    if (!answer.ok()) return answer.status().ToString();
    const json list = json::parse(answer->body, nullptr, false);
    if (answer->status != 200) return absl::StrCat(answer->status);
    std::string names;
    for (const json& item : list["items"]) {
      EXPECT_FALSE(item.contains("kind"));
      absl::StrAppend(&names, item["metadata"]["name"].get<std::string>(), " ");
    }
    token_ = list["metadata"].value("continue", "");
    return names;
  }

  FakeApiServer server_;
  std::unique_ptr<http::HttpTransport> transport_ = server_.Connect();
  ApiClient client_{*transport_, Clock::System()};
  std::string token_;
};

TEST_F(FakeApiServerTest, WritesAreConditionalOnTheVersion) {
  server_.Put(Web());
  json object = json::parse(*client_.Get(kWebPath));
  object["spec"]["replicas"] = 4;
  const auto stored = client_.Update(kWebPath, object.dump());
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_NE(json::parse(*stored)["metadata"]["resourceVersion"],
            object["metadata"]["resourceVersion"]);
  EXPECT_EQ(json::parse(*stored)["metadata"]["generation"], 2);
  const auto late = client_.Update(kWebPath, object.dump());
  EXPECT_EQ(late.status(),
            absl::AbortedError("Operation cannot be fulfilled on deployments.apps \"web\": the "
                               "object has been modified; please apply your changes to the latest "
                               "version and try again"));
  EXPECT_EQ(client_.Get("/apis/apps/v1/namespaces/shop/deployments/x").status(),
            absl::NotFoundError("deployments.apps \"x\" not found"));
}

TEST_F(FakeApiServerTest, NothingNewKeepsTheVersion) {
  server_.Put(Web());
  const std::string before = *client_.Get(kWebPath);
  EXPECT_EQ(*client_.MergePatch(kWebPath, R"({"spec":{"replicas":3}})"), before);
}

TEST_F(FakeApiServerTest, SpecAndStatusAreWrittenApart) {
  server_.Put(Web());
  ASSERT_TRUE(client_
                  .MergePatch(absl::StrCat(kWebPath, "/status"),
                              R"({"spec":{"replicas":9},"status":{"replicas":5}})")
                  .ok());
  json object = json::parse(server_.Get(kWebPath));
  EXPECT_EQ(object["spec"]["replicas"], 3);
  EXPECT_EQ(object["status"]["replicas"], 5);
  EXPECT_EQ(object["metadata"]["generation"], 1);
  ASSERT_TRUE(
      client_.MergePatch(kWebPath, R"({"spec":{"replicas":9},"status":{"replicas":7}})").ok());
  object = json::parse(server_.Get(kWebPath));
  EXPECT_EQ(object["spec"]["replicas"], 9);
  EXPECT_EQ(object["status"]["replicas"], 5);
}

TEST_F(FakeApiServerTest, MergePatchIsConditionalWhenItNamesAVersion) {
  server_.Put(Web());
  EXPECT_TRUE(absl::IsAborted(
      client_.MergePatch(kWebPath, R"({"metadata":{"resourceVersion":"1"},"spec":{}})").status()));
  // null takes away.
  ASSERT_TRUE(client_.MergePatch(kWebPath, R"({"spec":{"selector":null}})").ok());
  EXPECT_FALSE(json::parse(server_.Get(kWebPath))["spec"].contains("selector"));
}

TEST_F(FakeApiServerTest, ScaleOfWorkloadsAndCustomKinds) {
  const ResourceInfo widgets = {
      .name = {"example.com", "widgets"}, .version = "v1", .kind = "Widget", .singular = "widget"};
  const ResourceInfo deployments = {.name = {"apps", "deployments"},
                                    .version = "v1",
                                    .kind = "Deployment",
                                    .singular = "deployment"};
  server_.AddKind(widgets, true);
  server_.Put(Web());
  server_.Put(R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w",
                  "namespace":"shop"},"spec":{"replicas":1},"status":{"selector":"a=b"}})");
  const auto web = GetScale(client_, deployments, "shop", "web");
  ASSERT_TRUE(web.ok()) << web.status();
  EXPECT_EQ(web->spec_replicas, 3);
  EXPECT_EQ(web->status_replicas, 2);
  EXPECT_EQ(web->selector, "app=web");
  const auto set = UpdateScale(client_, deployments, *web, 7);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->spec_replicas, 7);
  EXPECT_EQ(set->status_replicas, 2);
  EXPECT_EQ(json::parse(server_.Get(kWebPath))["spec"]["replicas"], 7);
  EXPECT_TRUE(absl::IsAborted(UpdateScale(client_, deployments, *web, 8).status()));
  Scale other = *set;
  other.uid = "x";
  EXPECT_TRUE(absl::IsAborted(UpdateScale(client_, deployments, other, 8).status()));
  const auto widget = GetScale(client_, widgets, "shop", "w");
  ASSERT_TRUE(widget.ok()) << widget.status();
  EXPECT_EQ(widget->selector, "a=b");
  EXPECT_EQ(client_.Get("/api/v1/namespaces/shop/pods/x/scale").status().message(),
            "the server could not find the requested resource (get pods x)");
}

TEST_F(FakeApiServerTest, LeasesAreCreatedOnceAndNeverReplacedBlindly) {
  const std::string lease = R"({"metadata":{"name":"a"},"spec":{"holderIdentity":"me"}})";
  ASSERT_TRUE(client_.Create(kLeases, lease).ok());
  EXPECT_EQ(client_.Create(kLeases, lease).status(),
            absl::AlreadyExistsError("leases.coordination.k8s.io \"a\" already exists"));
  EXPECT_EQ(client_.Update(absl::StrCat(kLeases, "/a"), lease).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(FakeApiServerTest, ListsHavePagesAndSelectors) {
  server_.Put(Pod("c", "x"));
  server_.Put(Pod("a", "x"));
  server_.Put(Pod("b", "y"));
  server_.Put(Pod("a", "x", "other"));
  EXPECT_EQ(Names("/api/v1/pods"), "a a b c ");
  EXPECT_EQ(Names("/api/v1/namespaces/shop/pods?limit=2"), "a b ");
  const std::string next = absl::StrCat("/api/v1/namespaces/shop/pods?limit=2&continue=", token_);
  // The list is one moment's.
  server_.Put(Pod("d", "x"));
  EXPECT_EQ(Names(next), "c ");
  EXPECT_EQ(token_, "");
  EXPECT_EQ(Names("/api/v1/namespaces/shop/pods?labelSelector=app%3Dx"), "a c d ");
  EXPECT_EQ(Names("/api/v1/pods?fieldSelector=status.phase%3DPending"), "");
  EXPECT_EQ(Names("/api/v1/pods?fieldSelector=metadata.name%3Db"), "b ");
  Names("/api/v1/pods?limit=1");
  server_.ExpireVersions();
  EXPECT_EQ(Names("/api/v1/pods?limit=1&continue=" + token_), "410");
}

TEST_F(FakeApiServerTest, MetadataAloneWhenAskedFor) {
  server_.Put(Pod("a", "x"));
  http::HttpCall call;
  call.target = "/api/v1/pods";
  call.headers = {{"Accept", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}};
  const json list = json::parse(transport_->Do(call)->body);
  EXPECT_EQ(list["items"][0]["kind"], "PartialObjectMetadata");
  EXPECT_FALSE(list["items"][0].contains("status"));
}

// A watch in a thread of its own; what it was sent, by type and name.
class Watching {
 public:
  Watching(FakeApiServer& server, const std::string& target) : transport_(server.Connect()) {
    thread_ = std::thread([this, target] {
      http::HttpCall call;
      call.target = target;
      status_ = transport_->Stream(call, [this](absl::string_view piece) {
        absl::MutexLock lock(&mutex_);
        for (const auto& line : absl::StrSplit(piece, '\n', absl::SkipEmpty())) {
          const json event = json::parse(line.begin(), line.end());
          absl::StrAppend(&seen_, event["type"].get<std::string>(), " ",
                          event["object"]["metadata"].value("name", ""), "; ");
        }
        return true;
      });
    });
  }
  ~Watching() { Stop().IgnoreError(); }
  absl::Status Stop() {
    transport_->Shutdown();
    return Join();
  }
  absl::Status Join() {
    if (thread_.joinable()) thread_.join();
    return status_;
  }
  std::string Await(const std::string& want) {
    absl::MutexLock lock(&mutex_);
    const auto there = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return seen_ == want; };
    mutex_.AwaitWithTimeout(absl::Condition(&there), absl::Seconds(30));
    return seen_;
  }

 private:
  std::unique_ptr<http::HttpTransport> transport_;
  absl::Mutex mutex_;
  std::string seen_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_;
  std::thread thread_;
};

TEST_F(FakeApiServerTest, WatchesTellWhatTheirSelectorsSee) {
  server_.Put(Pod("a", "x"));
  server_.Put(Pod("b", "y"));
  Watching watching(server_, "/api/v1/namespaces/shop/pods?watch=1&labelSelector=app%3Dx");
  EXPECT_EQ(watching.Await("ADDED a; "), "ADDED a; ");
  server_.Put(Pod("b", "x"));
  server_.Put(Pod("a", "y"));
  server_.Put(Pod("a", "z"));
  server_.Put(Pod("c", "x", "other"));
  server_.Patch("/api/v1/namespaces/shop/pods/b", R"({"status":{"phase":"Failed"}})");
  server_.Delete("/api/v1/namespaces/shop/pods/b");
  const std::string want = "ADDED a; ADDED b; DELETED a; MODIFIED b; DELETED b; ";
  EXPECT_EQ(watching.Await(want), want);
  server_.SendBookmarks();
  EXPECT_EQ(watching.Await(want + "BOOKMARK ; "), want + "BOOKMARK ; ");
  EXPECT_TRUE(absl::IsCancelled(watching.Stop()));
}

TEST_F(FakeApiServerTest, WatchesBreakExpireAndEnd) {
  server_.Put(Pod("a", "x"));
  Watching broken(server_, "/api/v1/pods?watch=1&resourceVersion=2");
  ASSERT_TRUE(server_.AwaitWatches(1));
  server_.CutWatches();
  EXPECT_TRUE(absl::IsUnavailable(broken.Join()));
  Watching ended(server_, "/api/v1/pods?watch=1&resourceVersion=2");
  ASSERT_TRUE(server_.AwaitWatches(1));
  server_.CutWatches(true);
  EXPECT_TRUE(ended.Join().ok());
  Watching expired(server_, "/api/v1/pods?watch=1&resourceVersion=2");
  ASSERT_TRUE(server_.AwaitWatches(1));
  server_.ExpireVersions();
  EXPECT_EQ(expired.Await("ERROR ; "), "ERROR ; ");
  Watching older(server_, "/api/v1/pods?watch=1&resourceVersion=2");
  EXPECT_EQ(older.Await("ERROR ; "), "ERROR ; ");
  EXPECT_TRUE(older.Join().ok());
}

TEST_F(FakeApiServerTest, FaultsHitWhomTheyAreMeantFor) {
  server_.Put(Web());
  server_.Inject({.method = "PUT",
                  .part = "/scale",
                  .status = 409,
                  .reason = "Conflict",
                  .message = "somebody was faster"});
  EXPECT_TRUE(client_.Get(kWebPath).ok());
  EXPECT_EQ(client_.Update(absl::StrCat(kWebPath, "/scale"), "{}").status(),
            absl::AbortedError("somebody was faster"));
  server_.Inject({.method = "PATCH", .part = "", .status = 0, .applied = true});
  EXPECT_TRUE(
      absl::IsUnavailable(client_.MergePatch(kWebPath, R"({"spec":{"replicas":5}})").status()));
  EXPECT_EQ(json::parse(server_.Get(kWebPath))["spec"]["replicas"], 5);
  EXPECT_EQ(server_.faults(), 2);
  server_.SetDead(true);
  EXPECT_TRUE(absl::IsUnavailable(client_.Get(kWebPath).status()));
}

TEST_F(FakeApiServerTest, HookMayBeFaster) {
  server_.Put(Web());
  const json object = json::parse(*client_.Get(kWebPath));
  server_.OnRequest([this](const http::HttpCall& call) {
    if (call.method == "PUT") server_.Patch(kWebPath, R"({"spec":{"replicas":8}})");
  });
  EXPECT_TRUE(absl::IsAborted(client_.Update(kWebPath, object.dump()).status()));
}

TEST_F(FakeApiServerTest, DiscoveryShowsAllKinds) {
  server_.AddKind({.name = {"example.com", "widgets"},
                   .version = "v1",
                   .kind = "Widget",
                   .singular = "widget"});
  const auto discovery = Discover(*transport_, Clock::System(), absl::Seconds(10));
  ASSERT_TRUE(discovery.ok()) << discovery.status();
  const RestMapper mapper(discovery->resources);
  ASSERT_NE(mapper.FindKind("example.com", "Widget"), nullptr);
  ASSERT_NE(mapper.FindKind("apps", "Deployment"), nullptr);
  EXPECT_TRUE(mapper.FindKind("", "Pod")->namespaced);
  EXPECT_FALSE(mapper.FindKind("", "Node")->namespaced);
}

}  // namespace
}  // namespace flyball::kube
