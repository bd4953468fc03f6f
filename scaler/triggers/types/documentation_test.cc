// The custom resource definition and the documentation must say of each type what its row in the
// table says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "scaler/spec/document.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::scaler {
namespace {

constexpr char kDefinition[] = "charts/flyball/files/crds/autoscalers.flyball.dev.yaml";

std::string ReadFile(const std::string& path) {
  std::ifstream in(absl::StrCat(FLYBALL_SOURCE_DIR, "/", path));
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

std::string Code(absl::string_view text) { return absl::StrCat("`", text, "`"); }

TEST(TriggerTypesTest, TheDefinitionHasThemAll) {
  const absl::StatusOr<std::vector<Node>> documents = ParseDocuments(ReadFile(kDefinition));
  ASSERT_TRUE(documents.ok() && !documents->empty()) << documents.status();
  const Node* at = &documents->front();
  for (const char* step :
       {"spec", "versions", "", "schema", "openAPIV3Schema", "properties", "spec", "properties",
        "triggers", "items", "properties", "type", "enum"}) {
    at = *step == '\0' ? &at->items.front() : at->Find(step);
    ASSERT_NE(at, nullptr) << step;
  }
  std::vector<absl::string_view> names;
  for (const Node& name : at->items) names.push_back(name.text);
  EXPECT_EQ(names, TriggerTypeNames());
}

// ---- what the pages say ----

std::string ValueOf(const MetadataKey& key) {
  static const auto* const kWords =
      new std::map<KeyKind, std::string>{{KeyKind::kText, "text"},
                                         {KeyKind::kUrl, "URL"},
                                         {KeyKind::kNumber, "number"},
                                         {KeyKind::kInteger, "whole number"},
                                         {KeyKind::kTarget, "number above 0"},
                                         {KeyKind::kBool, "`true` or `false`"},
                                         {KeyKind::kDuration, "duration (`30s`, or milliseconds)"},
                                         {KeyKind::kPairs, "`key=value,key=value`"},
                                         {KeyKind::kSecret, "secret"},
                                         {KeyKind::kRefused, "refused"}};
  std::string out = key.kind == KeyKind::kOneOf
                        ? Code(absl::StrReplaceAll(key.words, {{", ", "`, `"}}))
                        : kWords->at(key.kind);
  if (key.otherwise == kRequired) return out + ", required";
  if (!key.otherwise.empty()) absl::StrAppend(&out, "; ", Code(key.otherwise), " when absent");
  return out;
}

std::string KeyTable(absl::Span<const MetadataKey> keys) {
  std::string out = "| key | value | |\n|---|---|---|\n";
  for (const MetadataKey& key : keys) {
    absl::StrAppend(&out, "| ", Code(key.name), " | ", ValueOf(key), " | ", key.says, " |\n");
  }
  return absl::StrCat(out, "\n");
}

// One line for each type.
std::string Overview() {
  std::string out = "| type | metadata (required in bold) | says |\n|---|---|---|\n";
  for (const TriggerType* type : TriggerTypes()) {
    std::vector<std::string> names;
    for (const MetadataKey& key : type->keys[0]) {
      if (key.kind == KeyKind::kSecret || key.kind == KeyKind::kRefused) continue;
      const char* const bold = key.otherwise == kRequired ? "**" : "";
      names.push_back(absl::StrCat(bold, Code(key.name), bold));
    }
    absl::StrAppend(&out, "| ", Code(type->name), " | ", absl::StrJoin(names, ", "), " | ",
                    type->says, " |\n");
  }
  return out;
}

// A section for each type, and one for each part that several types are made of.
std::string Sections() {
  std::string out = "\n";
  std::map<const MetadataKey*, std::vector<std::string>> users;
  std::map<const MetadataKey*, absl::Span<const MetadataKey>> parts;
  for (const TriggerType* type : TriggerTypes()) {
    const absl::Span<const MetadataKey> part = type->keys[1];
    std::string sentence(type->says);
    sentence[0] = absl::ascii_toupper(static_cast<unsigned char>(sentence[0]));
    absl::StrAppend(&out, "## ", type->name, "\n\n", sentence, ".",
                    part.empty() ? "" : " More keys are at the end of this page.", "\n\n",
                    KeyTable(type->keys[0]));
    if (part.empty()) continue;
    users[part.data()].push_back(std::string(type->name));
    parts[part.data()] = part;
  }
  for (const auto& [part, names] : users) {
    absl::StrAppend(&out, "## Keys of ", absl::StrJoin(names, ", "), "\n\n", KeyTable(parts[part]));
  }
  return out;
}

struct Block {
  std::string page;
  std::string name;
  std::string (*make)();
};

class DocumentationTest : public testing::TestWithParam<Block> {};

TEST_P(DocumentationTest, IsMadeOfTheRows) {
  const std::string page = ReadFile(GetParam().page);
  const std::string begin = absl::StrCat("<!-- triggers: ", GetParam().name, " -->\n");
  const size_t from = page.find(begin);
  const size_t to = page.find("<!-- end of triggers -->", from);
  ASSERT_NE(from, std::string::npos) << begin;
  ASSERT_NE(to, std::string::npos);
  const size_t first = from + begin.size();
  const std::string wanted =
      absl::StrCat(page.substr(0, first), GetParam().make(), page.substr(to));
  const std::string file = absl::StrCat(testing::TempDir(), "flyball-", GetParam().name, ".md");
  if (wanted != page) std::ofstream(file) << wanted;
  EXPECT_EQ(page, wanted) << "this makes it so: cp " << file << " " << GetParam().page;
}

INSTANTIATE_TEST_SUITE_P(Pages, DocumentationTest,
                         testing::Values(Block{"docs/scaling.md", "overview", Overview},
                                         Block{"docs/triggers.md", "metadata", Sections}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace flyball::scaler
