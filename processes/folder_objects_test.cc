#include "processes/folder_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

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
