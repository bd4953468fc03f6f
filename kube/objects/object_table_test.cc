#include "kube/objects/object_table.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

namespace flyball::kube {
namespace {

ObjectPtr Object(const std::string& ns, const std::string& name, const std::string& app = "a") {
  return std::make_shared<const ObjectMeta>(
      ObjectMeta{.ns = ns, .name = name, .labels = {{"app", app}}});
}

std::string Names(const std::vector<ObjectPtr>& objects) {
  return absl::StrJoin(objects, " ", [](std::string* out, const ObjectPtr& object) {
    absl::StrAppend(out, object->ns, "/", object->name);
  });
}

TEST(ObjectTableTest, SortsByNamespaceAndName) {
  const ObjectTable table({Object("b", "1"), Object("a", "2"), Object("a", "1"), Object("", "n")});
  EXPECT_EQ(Names(table.Select("", Selector())), "/n a/1 a/2 b/1");
  EXPECT_EQ(Names(table.Select("a", Selector())), "a/1 a/2");
  EXPECT_EQ(Names(table.Select("c", Selector())), "");
  EXPECT_EQ(table.size(), 4u);
  EXPECT_EQ(table.Find("a", "2")->name, "2");
  EXPECT_EQ(table.Find("a", "3"), nullptr);
}

TEST(ObjectTableTest, SelectsByLabels) {
  const ObjectTable table({Object("a", "1", "x"), Object("a", "2", "y")});
  EXPECT_EQ(Names(table.Select("", *Selector::Parse("app=y"))), "a/2");
}

TEST(ObjectTableTest, ChangesMakeANewTableAndLeaveTheOld) {
  const ObjectTable table({Object("a", "1"), Object("b", "1"), Object("d", "1")});
  const auto next = table.With({{Object("b", "0")},
                                {Object("a", "1"), true},
                                {Object("c", "1")},
                                {Object("d", "1", "new")}});
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(Names(next->Select("", Selector())), "b/0 b/1 c/1 d/1");
  EXPECT_EQ(next->Find("d", "1")->labels.at("app"), "new");
  EXPECT_EQ(next->size(), 4u);
  EXPECT_EQ(Names(table.Select("", Selector())), "a/1 b/1 d/1");
}

TEST(ObjectTableTest, WhatChangesNothingMakesNoTable) {
  const ObjectTable table({Object("a", "1")});
  EXPECT_EQ(table.With({}), nullptr);
  EXPECT_EQ(table.With({{Object("a", "1")}}), nullptr);
  EXPECT_EQ(table.With({{Object("a", "2"), true}}), nullptr);
}

TEST(ObjectTableTest, SameAsComparesNamesAndLabels) {
  const ObjectTable table({Object("a", "1"), Object("b", "1")});
  EXPECT_TRUE(table.SameAs(ObjectTable({Object("b", "1"), Object("a", "1")})));
  EXPECT_FALSE(table.SameAs(ObjectTable({Object("b", "1"), Object("a", "1", "x")})));
  EXPECT_FALSE(table.SameAs(ObjectTable({Object("b", "1"), Object("a", "2")})));
}

}  // namespace
}  // namespace flyball::kube
