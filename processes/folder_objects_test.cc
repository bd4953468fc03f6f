#include "processes/folder_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"

namespace flyball::processes {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kWeb[] = "/apis/apps/v1/namespaces/shop/deployments/web";
constexpr char kWorker[] = "/apis/flyball.dev/v1alpha1/namespaces/default/processsets/worker";
constexpr char kObjects[] = R"(---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 2}}
---
{apiVersion: flyball.dev/v1alpha1, kind: ProcessSet, metadata: {name: worker},
 spec: {command: [$0], replicas: $1}}
)";

class FolderObjectsTest : public testing::Test {
 protected:
  FolderObjectsTest() {
    char name[] = "/tmp/folder_objects_XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~FolderObjectsTest() override {
    objects_.reset();
    std::filesystem::remove_all(folder_);
  }
  void Write(const std::string& text, const std::string& file = "a.yaml") {
    std::ofstream(absl::StrCat(folder_, "/", file), std::ios::trunc) << text;
  }
  void Make() {
    auto made = FolderObjects::Make(folder_, server_, clock_, [this] { ++changes_; });
    ASSERT_TRUE(made.ok()) << made.status();
    objects_ = *std::move(made);
  }
  void Patch(const std::string& path, const std::string& patch) {
    http::HttpCall call;
    call.method = "PATCH";
    call.target = path;
    call.content_type = "application/merge-patch+json";
    call.body = patch;
    const auto answer = server_.Connect()->Do(call);
    ASSERT_TRUE(answer.ok() && answer->status == 200);
  }

  SimulatedClock clock_{absl::FromUnixSeconds(1767225600)};
  kube::LocalApiServer server_{clock_};
  std::string folder_;
  int changes_ = 0;
  std::unique_ptr<FolderObjects> objects_;
};

TEST_F(FolderObjectsTest, AllObjectsAreInTheServer) {
  Write(absl::Substitute(kObjects, "serve", 1));
  Write(R"({"apiVersion":"v1","kind":"PodList","items":[{"apiVersion":"v1","kind":"Pod",)"
        R"("metadata":{"name":"p","labels":{"yes":"010"}}}]})",
        "b.json");
  Write("nothing", ".hidden.yaml");
  Make();
  EXPECT_THAT(server_.Get(kWeb), HasSubstr(R"("replicas":2)"));
  EXPECT_THAT(server_.Get("/api/v1/namespaces/default/pods/p"), HasSubstr(R"("yes":"010")"));
  EXPECT_THAT(server_.Get("/api/v1/namespaces/default/pods/p"), HasSubstr(R"("phase":"Running")"));
  EXPECT_THAT(server_.Get(absl::StrCat(kWorker, "/scale")), HasSubstr(R"("replicas":1)"));
}

// As kubectl, which reads the answer of an API server to a list of pods.
TEST_F(FolderObjectsTest, ItemsAreOfTheKindOfTheirList) {
  Write(R"({"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"p"},)"
        R"("status":{"phase":"Pending"}}]})",
        "a.json");
  Write("{apiVersion: apps/v1, kind: DeploymentList, items: null}");
  Make();
  EXPECT_THAT(server_.Get("/api/v1/namespaces/default/pods/p"), HasSubstr(R"("phase":"Pending")"));
}

TEST_F(FolderObjectsTest, AClusterScopedObjectIsInNoNamespace) {
  Write("{apiVersion: v1, kind: Node, metadata: {name: node, namespace: ignored}}");
  Make();
  EXPECT_THAT(server_.Get("/api/v1/nodes/node"), HasSubstr(R"("name":"node")"));
  EXPECT_THAT(server_.Get("/api/v1/nodes/node"), Not(HasSubstr("ignored")));
}

constexpr char kDefinition[] = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: geese.example.com}
spec:
  group: example.com
  scope: $0
  names: {plural: geese, singular: goose, kind: Goose}
  versions: [{name: v1}, {name: v1alpha1}]
)";

TEST_F(FolderObjectsTest, ADefinitionSaysThePluralAndTheScopeOfItsKind) {
  Write(
      "---\n{apiVersion: example.com/v1alpha1, kind: Goose, metadata: {name: g, namespace: farm}}\n"
      "---\n{apiVersion: example.com/v1, kind: Policy, metadata: {name: p}}");
  Write(absl::Substitute(kDefinition, "Namespaced"), "crd.yaml");
  Make();
  EXPECT_NE(server_.Get("/apis/example.com/v1alpha1/namespaces/farm/geese/g"), "");
  EXPECT_EQ(server_.List("/apis/example.com/v1/geese").size(), 1u);
  EXPECT_NE(server_.Get("/apis/example.com/v1/namespaces/default/policies/p"), "") << "guessed";
  EXPECT_EQ(server_.List("/apis/apiextensions.k8s.io/v1/customresourcedefinitions").size(), 1u);
}

TEST_F(FolderObjectsTest, ADefinitionMayComeAfterTheObjectsAndChange) {
  Write("{apiVersion: example.com/v1, kind: Goose, metadata: {name: g, namespace: farm}}");
  Make();
  EXPECT_NE(server_.Get("/apis/example.com/v1/namespaces/farm/gooses/g"), "");
  Write(absl::Substitute(kDefinition, "Cluster"), "crd.yaml");
  EXPECT_TRUE(objects_->Reload().ok());
  EXPECT_THAT(server_.Get("/apis/example.com/v1/geese/g"), Not(HasSubstr("farm")));
  EXPECT_EQ(server_.List("/apis/example.com/v1/geese").size(), 1u);
  Write(absl::Substitute(kDefinition, "Namespaced"), "crd.yaml");
  EXPECT_TRUE(objects_->Reload().ok());
  EXPECT_NE(server_.Get("/apis/example.com/v1/namespaces/farm/geese/g"), "");
  EXPECT_EQ(server_.List("/apis/example.com/v1/geese").size(), 1u);
}

// The kinds that the scaler itself needs are what they are, whatever a folder defines.
TEST_F(FolderObjectsTest, NoDefinitionChangesAKnownKind) {
  Write(absl::Substitute(kObjects, "serve", 1));
  Write(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: sets.flyball.dev}
spec:
  group: flyball.dev
  scope: Cluster
  names: {plural: sets, kind: ProcessSet}
  versions: [{name: v1alpha1}]
)",
        "crd.yaml");
  Make();
  EXPECT_THAT(server_.Get(absl::StrCat(kWorker, "/scale")), HasSubstr(R"("replicas":1)"));
}

TEST_F(FolderObjectsTest, ACountThatWasScaledStaysUntilTheFileHasAnother) {
  Write(absl::Substitute(kObjects, "serve", 1));
  Make();
  Patch(absl::StrCat(kWorker, "/scale"), R"({"spec":{"replicas":5}})");
  Patch(absl::StrCat(kWorker, "/status"), R"({"status":{"replicas":5}})");
  Write(absl::Substitute(kObjects, "other", 1));
  EXPECT_TRUE(objects_->Reload().ok());
  EXPECT_EQ(changes_, 1);
  EXPECT_THAT(server_.Get(kWorker), HasSubstr(R"("command":["other"],"replicas":5)"));
  EXPECT_THAT(server_.Get(kWorker), HasSubstr(R"("status":{"replicas":5})"));
  Write(absl::Substitute(kObjects, "other", 2));
  EXPECT_TRUE(objects_->Reload().ok());
  EXPECT_THAT(server_.Get(kWorker), HasSubstr(R"("command":["other"],"replicas":2)"));
}

TEST_F(FolderObjectsTest, WhatLeavesTheFolderIsGone) {
  Write(absl::Substitute(kObjects, "serve", 1));
  Make();
  std::filesystem::remove(absl::StrCat(folder_, "/a.yaml"));
  EXPECT_TRUE(objects_->Reload().ok());
  EXPECT_EQ(server_.Get(kWeb), "");
  EXPECT_EQ(changes_, 1);
  EXPECT_TRUE(objects_->Reload().ok());
  EXPECT_EQ(changes_, 1);
}

// A folder is unreadable through a link to itself, for root too.
TEST_F(FolderObjectsTest, AFolderThatCannotBeReadKeepsAllObjects) {
  const std::string sub = absl::StrCat(folder_, "/sub");
  std::filesystem::create_directory(sub);
  Write(absl::Substitute(kObjects, "serve", 1), "sub/a.yaml");
  Make();
  for (const std::string& folder : {folder_, sub}) {
    const std::string away = absl::StrCat(folder_, ".away");
    std::filesystem::rename(folder, away);
    std::filesystem::create_directory_symlink(folder, folder);
    EXPECT_TRUE(objects_->Reload().ok()) << "the watcher sees when it can be read";
    EXPECT_NE(server_.Get(kWeb), "") << folder;
    std::filesystem::remove(folder);
    std::filesystem::rename(away, folder);
    EXPECT_TRUE(objects_->Reload().ok());
    EXPECT_EQ(changes_, 0);
  }
  std::filesystem::remove_all(folder_);
  EXPECT_FALSE(objects_->Reload().ok());
  EXPECT_EQ(changes_, 0);
  std::filesystem::create_directory(folder_);
  const auto loop = absl::StrCat(folder_, "/loop");
  std::filesystem::create_directory_symlink(loop, loop);
  Write(absl::Substitute(kObjects, "serve", 1));
  Make();  // as if the loop were not there
  EXPECT_NE(server_.Get(kWeb), "");
}

TEST_F(FolderObjectsTest, BesideAFolderThatCannotBeReadFilesMayGo) {
  std::filesystem::create_directory(absl::StrCat(folder_, "/sub"));
  Write("{apiVersion: v1, kind: Pod, metadata: {name: a}}");
  Write("{apiVersion: v1, kind: Pod, metadata: {name: b}}", "sub/b.yaml");
  Make();
  std::filesystem::remove(absl::StrCat(folder_, "/a.yaml"));
  const std::string sub = absl::StrCat(folder_, "/sub");
  std::filesystem::remove_all(sub);
  std::filesystem::create_directory_symlink(sub, sub);
  EXPECT_TRUE(objects_->Reload().ok()) << "all files would be read again each second";
  EXPECT_EQ(server_.Get("/api/v1/namespaces/default/pods/a"), "");
  EXPECT_NE(server_.Get("/api/v1/namespaces/default/pods/b"), "");
  std::filesystem::remove(sub);
  EXPECT_TRUE(objects_->Reload().ok());
  EXPECT_EQ(server_.Get("/api/v1/namespaces/default/pods/b"), "");
}

TEST_F(FolderObjectsTest, NothingIsWaitedForThatIsNoFile) {
  Write("{apiVersion: v1, kind: Pod, metadata: {name: a}}");
  Make();
  const std::string fifo = absl::StrCat(folder_, "/fifo.yaml");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_TRUE(objects_->Reload().ok());
  EXPECT_NE(server_.Get("/api/v1/namespaces/default/pods/a"), "");
  const auto made = FolderObjects::Make(folder_, server_, clock_, [] {});
  EXPECT_THAT(std::string(made.status().message()), HasSubstr(absl::StrCat(fifo, ": is no file")));
}

TEST_F(FolderObjectsTest, TheWatcherReads) {
  Make();
  clock_.AwaitWaits(1);
  Write("{apiVersion: v1, kind: Pod, metadata: {name: a}}");
  clock_.Advance(absl::Seconds(1));
  clock_.AwaitWaits(2);
  clock_.Advance(absl::Milliseconds(50));
  clock_.AwaitWaits(3);
  EXPECT_NE(server_.Get("/api/v1/namespaces/default/pods/a"), "");
}

// An object is what it is whichever file has it.
TEST_F(FolderObjectsTest, FilesMayBeCopiedAndRenamed) {
  Write(absl::Substitute(kObjects, "serve", 1));
  Make();
  Patch(absl::StrCat(kWorker, "/scale"), R"({"spec":{"replicas":8}})");
  const std::string scaled = server_.Get(kWorker);
  const auto path = [this](const char* file) { return absl::StrCat(folder_, "/", file); };
  std::filesystem::copy_file(path("a.yaml"), path("b.yaml"));
  EXPECT_TRUE(objects_->Reload().ok());
  std::filesystem::remove(path("a.yaml"));
  EXPECT_TRUE(objects_->Reload().ok());
  EXPECT_EQ(server_.Get(kWorker), scaled);
  std::filesystem::rename(path("b.yaml"), path("c.yaml"));
  EXPECT_TRUE(objects_->Reload().ok());
  EXPECT_EQ(server_.Get(kWorker), scaled);
  EXPECT_EQ(changes_, 0);
}

TEST_F(FolderObjectsTest, OfTwoFilesWithAnObjectTheLastByNameCounts) {
  Write(absl::Substitute(kObjects, "first", 1));
  Write(absl::Substitute(kObjects, "second", 1), "b.yaml");
  Make();
  EXPECT_THAT(server_.Get(kWorker), HasSubstr(R"("command":["second"])"));
  std::filesystem::remove(absl::StrCat(folder_, "/b.yaml"));
  EXPECT_TRUE(objects_->Reload().ok());
  EXPECT_THAT(server_.Get(kWorker), HasSubstr(R"("command":["first"])"));
}

// A shell empties the file that it redirects to before the program has anything to write.
TEST_F(FolderObjectsTest, AFileThatBecomesEmptyKeepsItsLastGoodObjects) {
  Write(absl::Substitute(kObjects, "serve", 1));
  Make();
  Write("\n");
  EXPECT_TRUE(objects_->Reload().ok());
  EXPECT_NE(server_.Get(kWeb), "");
  EXPECT_EQ(changes_, 0);
}

TEST_F(FolderObjectsTest, AFileThatBecomesBadKeepsItsLastGoodObjects) {
  Write(absl::Substitute(kObjects, "serve", 1));
  Make();
  Write("---\n{apiVersion: v1, kind: Pod}");
  EXPECT_TRUE(objects_->Reload().ok());
  EXPECT_NE(server_.Get(kWeb), "");
  EXPECT_EQ(changes_, 0);
  Write("---\n{apiVersion: v1, kind: Pod, metadata: {name: p}}");
  EXPECT_TRUE(objects_->Reload().ok());
  EXPECT_EQ(server_.Get(kWeb), "");
  EXPECT_NE(server_.Get("/api/v1/namespaces/default/pods/p"), "");
}

TEST_F(FolderObjectsTest, AllThatIsWrongIsToldAtStart) {
  Write("- 1");
  Write("---\n{apiVersion: v1, kind: Pod}", "b.yaml");
  const auto made = FolderObjects::Make(folder_, server_, clock_, [] {});
  EXPECT_THAT(std::string(made.status().message()), HasSubstr("a.yaml: "));
  EXPECT_THAT(std::string(made.status().message()),
              HasSubstr("b.yaml: line 2: apiVersion, kind and metadata.name are needed"));
}

// The real API server refuses these too, and the readers of objects rely on it.
TEST_F(FolderObjectsTest, FieldsOfAWrongTypeAreRefusedWithTheirLine) {
  for (const auto& [field, message] : std::initializer_list<std::pair<const char*, const char*>>{
           {"metadata: {name: p, labels: {a: 1}}",
            "metadata.labels.a: a string was expected, not a number"},
           {"metadata: {name: p, labels: []}",
            "metadata.labels: an object was expected, not a list"},
           {"metadata: {name: p, annotations: {a: yes}}",
            "metadata.annotations.a: a string was expected, not a bool"},
           {"metadata: {name: p}, spec: x", "spec: an object was expected, not a string"},
           {"metadata: {name: p}, status: 1", "status: an object was expected, not a number"}}) {
    Write(absl::StrCat("---\n{apiVersion: v1, kind: Pod, ", field, "}"));
    const auto made = FolderObjects::Make(folder_, server_, clock_, [] {});
    EXPECT_THAT(std::string(made.status().message()),
                HasSubstr(absl::StrCat("a.yaml: line 2: ", message)));
  }
}

TEST_F(FolderObjectsTest, ListsAndDefinitionsThatAreNoneAreRefused) {
  for (const auto& [text, message] : std::initializer_list<std::pair<const char*, const char*>>{
           {"{apiVersion: v1, kind: PodList, items: 1}",
            "line 1: items: a list was expected, not a number"},
           {"{apiVersion: v1, kind: List, items: [{metadata: {name: a}}]}",
            "line 1: apiVersion, kind and metadata.name are needed"},
           {"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, "
            "metadata: {name: a}, spec: {group: a.b}}",
            "line 1: a CustomResourceDefinition needs spec.group, spec.versions"}}) {
    Write(text);
    const auto made = FolderObjects::Make(folder_, server_, clock_, [] {});
    EXPECT_THAT(std::string(made.status().message()), HasSubstr(message));
  }
}

TEST_F(FolderObjectsTest, ANumberThatIsTooLargeIsRefused) {
  Write(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"a":1e999}})");
  const auto made = FolderObjects::Make(folder_, server_, clock_, [] {});
  EXPECT_THAT(std::string(made.status().message()), HasSubstr("it has a number that is too large"));
}

TEST_F(FolderObjectsTest, NullIsNoLabelsAndNoTextAndAnnotationsMayBeNumbers) {
  Write(
      "--- {apiVersion: v1, kind: Pod, metadata: {name: p, labels: null, annotations: {a: null, b: "
      "8080}}}");
  Make();
  const std::string pod = server_.Get("/api/v1/namespaces/default/pods/p");
  EXPECT_THAT(pod, HasSubstr(R"("annotations":{"a":"","b":"8080"})"));
  EXPECT_THAT(pod, Not(HasSubstr("labels")));
}

}  // namespace
}  // namespace flyball::processes
