#include "kube/watch/folder_directory.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

namespace flyball::kube {
namespace {

namespace fs = std::filesystem;

TEST(GuessPluralTest, AsClientGo) {
  EXPECT_EQ(GuessPlural("Widget"), "widgets");
  EXPECT_EQ(GuessPlural("Policy"), "policies");
  EXPECT_EQ(GuessPlural("Ingress"), "ingresses");
  EXPECT_EQ(GuessPlural("Endpoints"), "endpoints");
}

struct Row {
  std::string name;
  std::string text;
  std::string error;
};

class ReadManifestRefusedTest : public testing::TestWithParam<Row> {};

TEST_P(ReadManifestRefusedTest, Row) {
  EXPECT_EQ(std::string(ReadManifest(GetParam().text, "f").status().message()), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, ReadManifestRefusedTest,
    testing::Values(
        Row{"BrokenYaml", "a:\n  - b\n c", "f:3:2: end of map not found"},
        Row{"NoMap", "- a", "f:1:1: this is no object: a map was expected"},
        Row{"SecondDocument", "---\n---\nkind: Pod", "f:3:1: the object has no apiVersion"},
        Row{"NoKind", "apiVersion: v1", "f:1:1: the object has no kind"},
        Row{"NoName", "\napiVersion: v1\nkind: Pod\nmetadata: {namespace: a}",
            "f:2:1: the Pod has no metadata.name"},
        Row{"LabelsAreNoMap", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: [b]}",
            "f:3:29: metadata.labels: a map was expected"},
        Row{"LabelValueIsNoText", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {b: []}}",
            "f:3:33: bad conversion"},
        Row{"ListInList", "apiVersion: v1\nkind: List\nitems:\n- {kind: List, items: []}",
            "f:4:3: a List inside a List"},
        Row{"NotUtf8", "apiVersion: v1\nkind: Pod\nmetadata: {name: a\xc3}", "f:3: not UTF-8"}),
    [](const auto& info) { return info.param.name; });

class FolderDirectoryTest : public testing::Test {
 protected:
  FolderDirectoryTest() {
    root_ = fs::path(testing::TempDir()) /
            absl::StrCat("flyball-", testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~FolderDirectoryTest() override { fs::remove_all(root_); }

  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }

  // The watcher of the directory sleeps until a test moves the time; most call Reload.
  std::unique_ptr<FolderDirectory> Make() {
    auto directory = FolderDirectory::Make(root_.string(), clock_);
    EXPECT_TRUE(directory.ok()) << directory.status();
    return *std::move(directory);
  }

  static std::string Names(FolderDirectory& directory, const std::string& resource,
                           const std::string& selector = "", bool running_only = false) {
    ObjectQuery query;
    query.resource = directory.mapper()->FindQualified(resource)->name;
    query.selector = *Selector::Parse(selector);
    query.running_only = running_only;
    const auto objects = directory.List(query);
    EXPECT_TRUE(objects.ok()) << objects.status();
    return absl::StrJoin(*objects, " ", [](std::string* out, const ObjectPtr& object) {
      absl::StrAppend(out, object->ns, "/", object->name);
    });
  }

  SimulatedClock clock_{absl::FromUnixSeconds(1700000000)};
  fs::path root_;
};

TEST_F(FolderDirectoryTest, AllFormsOfFiles) {
  Write("pods.yaml", R"(
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, labels: {app: web}}
---
apiVersion: v1
kind: Pod
metadata: {name: web-2, labels: {app: web}}
status: {phase: Pending}
)");
  Write("sub/list.yml", R"(
apiVersion: v1
kind: List
items:
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}}
- {apiVersion: v1, kind: Node, metadata: {name: n1, namespace: ignored}}
)");
  Write("kubectl.json",
        "{\"apiVersion\": \"v1\", \"kind\": \"PodList\",\n"
        "\t\"items\": [{\"metadata\": {\"name\": \"db-1\", \"namespace\": \"shop\"},"
        "\n\t\t\"status\": {\"phase\": \"Running\"}}]}");
  Write("README.md", "not: [read");
  Write(".hidden.yaml", "not: [read");
  const auto directory = Make();
  EXPECT_EQ(Names(*directory, "pods"), "default/web-2 shop/db-1 shop/web-1");
  EXPECT_EQ(Names(*directory, "pods", "app=web"), "default/web-2 shop/web-1");
  EXPECT_EQ(Names(*directory, "pods", "", true), "shop/db-1 shop/web-1");
  EXPECT_EQ(Names(*directory, "deployments.apps"), "shop/web");
  EXPECT_EQ(Names(*directory, "nodes"), "/n1");
  EXPECT_EQ(Names(*directory, "services"), "");
  EXPECT_EQ((*directory->Get({"", "pods"}, "shop", "web-1", false))->labels.at("app"), "web");
  EXPECT_EQ(*directory->Get({"", "pods"}, "shop", "nobody", false), nullptr);
  EXPECT_EQ(directory->Get({"", "widgets"}, "", "", false).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(FolderDirectoryTest, CustomResourcesAreDefinedOrGuessed) {
  Write("a.yaml", R"(
{apiVersion: example.com/v1, kind: Goose, metadata: {name: g, namespace: farm}}
---
{apiVersion: example.com/v1, kind: Policy, metadata: {name: p}}
)");
  Write("crd.yaml", R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: geese.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: geese, singular: goose, kind: Goose}
  versions: [{name: v1}, {name: v1alpha1}]
)");
  const auto directory = Make();
  EXPECT_EQ(Names(*directory, "geese.example.com"), "farm/g");
  EXPECT_EQ(Names(*directory, "goose"), "farm/g");
  EXPECT_EQ(Names(*directory, "policies.example.com"), "/p");
  EXPECT_FALSE(directory->mapper()->FindQualified("policy")->namespaced);
}

TEST_F(FolderDirectoryTest, BuiltinResourcesResolveAsInACluster) {
  const auto directory = Make();
  const auto mapper = directory->mapper();
  EXPECT_EQ(mapper->FindQualified("ingress")->name.ToString(), "ingresses.networking.k8s.io");
  EXPECT_EQ(mapper->FindQualified("event")->name.ToString(), "events");
  EXPECT_EQ(mapper->FindQualified("job")->name.ToString(), "jobs.batch");
  EXPECT_EQ(mapper->FindQualified("endpoint"), nullptr);
  EXPECT_EQ(mapper->FindQualified("hpa"), nullptr);
}

TEST_F(FolderDirectoryTest, BadFilesAreRefusedAtStartAllAtOnce) {
  Write("a.yaml", "kind: Pod");
  Write("b.yaml", "a:\n  - b\n c");
  const auto status = FolderDirectory::Make(root_.string(), clock_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(status.message()),
            absl::StrCat((root_ / "a.yaml").string(), ":1:1: the object has no apiVersion\n",
                         (root_ / "b.yaml").string(), ":3:2: end of map not found"));
  EXPECT_FALSE(FolderDirectory::Make((root_ / "absent").string(), clock_).ok());
}

TEST_F(FolderDirectoryTest, ReloadTakesGoodFilesAndKeepsTheLastGoodOfBadOnes) {
  Write("a.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: a}}");
  Write("b.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: b}}");
  const auto directory = Make();
  const uint64_t first = directory->Generation();
  EXPECT_TRUE(directory->Reload().ok());
  EXPECT_EQ(directory->Generation(), first);

  Write("a.yaml", "apiVersion: v1");
  Write("b.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: b2}}");
  EXPECT_TRUE(directory->Reload().ok());
  EXPECT_EQ(Names(*directory, "pods"), "default/a default/b2");
  EXPECT_GT(directory->Generation(), first);

  Write("a.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: a3}}");
  fs::remove(root_ / "b.yaml");
  EXPECT_TRUE(directory->Reload().ok());
  EXPECT_EQ(Names(*directory, "pods"), "default/a3");
}

// A link to itself cannot be read, not even by root.
TEST_F(FolderDirectoryTest, BelowAFolderThatCannotBeReadAllStaysUntilItCan) {
  Write("a.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: a}}");
  Write("sub/b.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: b}}");
  fs::create_directory_symlink(root_ / "loop", root_ / "loop");
  const auto directory = Make();
  EXPECT_EQ(Names(*directory, "pods"), "default/a default/b");
  clock_.AwaitWaits(1);
  fs::remove(root_ / "a.yaml");
  fs::remove_all(root_ / "sub");
  fs::create_directory_symlink(root_ / "sub", root_ / "sub");
  clock_.Advance(absl::Seconds(1));
  clock_.AwaitWaits(2);
  clock_.Advance(absl::Milliseconds(50));
  clock_.AwaitWaits(3);
  EXPECT_EQ(Names(*directory, "pods"), "default/b");
  EXPECT_TRUE(directory->Reload().ok()) << "all files would be read again each second";
  fs::remove(root_ / "sub");
  clock_.Advance(absl::Seconds(1));
  clock_.AwaitWaits(4);
  clock_.Advance(absl::Milliseconds(50));
  clock_.AwaitWaits(5);
  EXPECT_EQ(Names(*directory, "pods"), "");
}

TEST_F(FolderDirectoryTest, NothingIsWaitedForThatIsNoFile) {
  Write("a.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: a}}");
  const auto directory = Make();
  const std::string fifo = (root_ / "fifo.yaml").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_TRUE(directory->Reload().ok());
  EXPECT_EQ(Names(*directory, "pods"), "default/a");
  EXPECT_EQ(FolderDirectory::Make(root_.string(), clock_).status().message(),
            fifo + ": is no file");
}

TEST_F(FolderDirectoryTest, WatcherReloads) {
  const auto directory = Make();
  clock_.AwaitWaits(1);
  const uint64_t before = directory->Generation();
  Write("a.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: a}}");
  clock_.Advance(absl::Seconds(1));
  clock_.AwaitWaits(2);
  clock_.Advance(absl::Milliseconds(50));
  clock_.AwaitWaits(3);
  EXPECT_EQ(directory->Generation(), before + 1);
}

}  // namespace
}  // namespace flyball::kube
