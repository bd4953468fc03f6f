// Uses a folder, the API server in this process, and real processes that sleep.
#include "processes/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "base/read_file.h"
#include "kube/client/api_client.h"
#include "kube/client/scale.h"
#include "processes/local_cluster.h"

namespace flyball::processes {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr char kSet[] = R"(
apiVersion: flyball.dev/v1alpha1
kind: ProcessSet
metadata: {name: worker, namespace: shop}
spec: {replicas: $0, command: [sleep, "1000"], labels: {app: web}, gracePeriod: 20s, port: 9100, metricsPath: /metrics}
)";

class LocalClusterTest : public testing::Test {
 protected:
  LocalClusterTest() {
    char name[] = "/tmp/processes_test_XXXXXX";
    folder_ = mkdtemp(name);
    info_.name = {"flyball.dev", "processsets"};
    info_.version = "v1alpha1";
    info_.kind = "ProcessSet";
  }
  ~LocalClusterTest() override {
    client_.reset();
    transport_.reset();
    cluster_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Write(const std::string& text) {
    std::ofstream(absl::StrCat(folder_, "/objects.yaml")) << text;
  }

  absl::Status Make(const std::string& state_folder = "") {
    auto cluster = LocalCluster::Make(folder_, clock_, state_folder);
    if (!cluster.ok()) return cluster.status();
    cluster_ = *std::move(cluster);
    transport_ = cluster_->Connect();
    client_ = std::make_unique<kube::ApiClient>(*transport_, clock_, absl::Seconds(5));
    return cluster_->Start();
  }

  void Scale(const std::string& name, int32_t count) {
    auto scale = kube::GetScale(*client_, info_, "shop", name);
    // The status is written a moment after the pods; a write of the scale needs the newest version.
    for (auto stored = kube::UpdateScale(*client_, info_, *scale, count); !stored.ok();
         stored = kube::UpdateScale(*client_, info_, *scale, count)) {
      ASSERT_TRUE(absl::IsAborted(stored.status())) << stored.status();
      scale = kube::GetScale(*client_, info_, "shop", name);
    }
  }

  // Waits until `condition` holds for the list of all pods.
  std::vector<json> AwaitPods(const std::function<bool(const std::vector<json>&)>& condition) {
    std::vector<json> pods;
    const auto list = [&] {
      http::HttpCall call;
      call.target = "/api/v1/pods";
      pods = json::parse(transport_->Do(call)->body)["items"].get<std::vector<json>>();
      return condition(pods);
    };
    http::HttpCall watch;
    watch.target = "/api/v1/pods?watch=1";
    const absl::Status ended =
        transport_->Stream(watch, [&](absl::string_view) { return !list(); });
    EXPECT_TRUE(ended.ok()) << ended;
    return pods;
  }
  std::vector<json> AwaitPods(size_t count) {
    return AwaitPods([count](const std::vector<json>& pods) {
      return pods.size() == count && std::all_of(pods.begin(), pods.end(), [](const json& pod) {
               return pod["status"]["conditions"][0]["status"] == "True";
             });
    });
  }

  // The file is written after the pods, and replaced atomically.
  std::string AwaitStatusFile() {
    while (true) {
      absl::StatusOr<std::string> text = ReadFile(StatusFileOf(folder_));
      if (text.ok() && absl::StrContains(*text, "\"readyReplicas\": 1")) return *std::move(text);
      std::this_thread::yield();
    }
  }

  SimulatedClock clock_{absl::FromUnixSeconds(1767225600)};
  std::string folder_;
  kube::ResourceInfo info_;
  std::unique_ptr<LocalCluster> cluster_;
  std::unique_ptr<http::HttpTransport> transport_;
  std::unique_ptr<kube::ApiClient> client_;
};

TEST_F(LocalClusterTest, TheScaleIsHowManyProcessesThereAre) {
  Write(absl::Substitute(kSet, 1));
  ASSERT_TRUE(Make().ok());
  std::vector<json> pods = AwaitPods(1);
  EXPECT_EQ(pods[0]["metadata"]["name"], "worker-0");
  EXPECT_EQ(pods[0]["metadata"]["labels"]["app"], "web");
  EXPECT_EQ(pods[0]["metadata"]["annotations"]["prometheus.io/port"], "9100");
  EXPECT_EQ(pods[0]["status"]["podIP"], "127.0.0.1");
  EXPECT_EQ(pods[0]["status"]["phase"], "Running");

  Scale("worker", 3);
  EXPECT_EQ(AwaitPods(3)[2]["metadata"]["name"], "worker-2");
  cluster_->Stop();
  EXPECT_TRUE(AwaitPods([](const auto& left) { return left.empty(); }).empty());
}

TEST_F(LocalClusterTest, ACountThatIsTooLargeEndsNothing) {
  const std::string other = absl::StrReplaceAll(kSet, {{"name: worker", "name: spare"}});
  Write(absl::StrCat(absl::Substitute(kSet, 2), "---", absl::Substitute(other, 0)));
  ASSERT_TRUE(Make().ok());
  const auto uids = [](const std::vector<json>& pods) {
    std::vector<json> out;
    for (const json& pod : pods) {
      if (pod["metadata"]["name"] != "spare-0") out.push_back(pod["metadata"]["uid"]);
    }
    return out;
  };
  const std::vector<json> before = uids(AwaitPods(2));
  Scale("worker", kMaxReplicas + 1);
  Scale("spare", 1);  // once this runs, the other count has been seen
  EXPECT_EQ(uids(AwaitPods(3)), before);
  Scale("worker", 1);
  EXPECT_EQ(uids(AwaitPods(2)), std::vector<json>({before[0]}));
}

TEST_F(LocalClusterTest, TheStatusAndItsFileSayWhatRuns) {
  Write(absl::Substitute(kSet, 2));
  ASSERT_TRUE(Make().ok());
  AwaitPods(2);
  cluster_->Stop();  // writes the file a last time
  const auto set = client_->Get("/apis/flyball.dev/v1alpha1/namespaces/shop/processsets/worker");
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_THAT(*set, HasSubstr(R"("selector":"app=web")"));
  EXPECT_EQ(*ReadFile(StatusFileOf(folder_)), "[]\n");
}

// A service of systemd may not write to the folder of objects, but has one for its state.
TEST_F(LocalClusterTest, TheFileIsInTheFolderForStateIfThereIsOne) {
  const std::string state = absl::StrCat(folder_, ".state");
  std::filesystem::create_directory(state);
  Write(absl::Substitute(kSet, 1));
  ASSERT_TRUE(Make(state).ok());
  AwaitPods(1);
  cluster_->Stop();  // writes the file a last time
  EXPECT_EQ(ReadFile(absl::StrCat(state, "/processes.json")).value_or(""), "[]\n");
  EXPECT_FALSE(std::filesystem::exists(StatusFileOf(folder_)));
  std::filesystem::remove_all(state);
}

TEST_F(LocalClusterTest, NoProcessOutlivesIt) {
  Write(absl::Substitute(kSet, 1));
  ASSERT_TRUE(Make().ok());
  AwaitPods(1);
  const json status = json::parse(AwaitStatusFile());
  const pid_t pid = status[0]["processes"][0]["pid"];
  ASSERT_EQ(kill(pid, 0), 0);
  EXPECT_EQ(status[0]["readyReplicas"], 1);
  EXPECT_EQ(status[0]["processes"][0]["address"], "127.0.0.1:9100");
  cluster_->Stop();
  EXPECT_NE(kill(pid, 0), 0);
}

TEST_F(LocalClusterTest, BadFilesAreRefusedAtStart) {
  Write("---\n{apiVersion: flyball.dev/v1alpha1, kind: ProcessSet, metadata: {name: a}, spec: {}}");
  const absl::Status status = Make();
  EXPECT_THAT(std::string(status.message()), HasSubstr("objects.yaml: line 2: spec.command"));
  EXPECT_FALSE(LocalCluster::Make(folder_ + "/absent", clock_).ok());
}

}  // namespace
}  // namespace flyball::processes
