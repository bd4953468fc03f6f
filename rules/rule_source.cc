#include "rules/rule_source.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "rules/yaml_tree.h"

namespace flyball::rules {
namespace {

std::string TextOf(const YamlNode* node) {
  return node != nullptr && node->kind == YamlNode::Kind::kScalar ? node->text : "";
}

// Whether these are the `rules` of a chart's values; those of a rule file are a list.
bool IsChartRules(const YamlNode* rules) {
  for (const char* key : {"default", "custom", "external", "resource", "existing"}) {
    if (ValueOf(rules, key) != nullptr) return true;
  }
  return false;
}

// The rules of the chart itself, or those of a ConfigMap.
bool HasRulesElsewhere(const YamlNode& rules) {
  const std::string existing = TextOf(ValueOf(&rules, "existing"));
  return TextOf(ValueOf(&rules, "default")) == "true" ||
         (!existing.empty() && existing != "null" && existing != "~");
}

FoundRules OfText(std::string of, absl::string_view text, absl::string_view file) {
  Findings told_by_the_compiler(file);
  return {std::move(of), CompileRules(text, file), ReadConfig(text, told_by_the_compiler)};
}

FoundRules OfValues(std::string of, absl::string_view text, absl::string_view file,
                    const std::vector<std::string>& path) {
  Findings told_by_the_compiler(file);
  return {std::move(of), CompileChartValues(text, file, path),
          ReadChartValues(text, path, told_by_the_compiler)};
}

void DropNoRules(CompileResult& compiled) {
  const bool none = compiled.rules != nullptr && compiled.rules->custom.empty() &&
                    compiled.rules->external.empty() && !compiled.rules->resource.has_value();
  if (!none) return;
  // The finding about the whole file.
  std::erase_if(compiled.findings, [](const Finding& finding) { return finding.line == 0; });
}

bool IsBlank(absl::string_view line) {
  return line.find_first_not_of(" \t\r") == absl::string_view::npos;
}

size_t IndentOf(absl::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

// Objects of Kubernetes in a file, and the rules in their ConfigMaps.
class Objects {
 public:
  Objects(absl::string_view text, absl::string_view file)
      : file_(file), lines_(absl::StrSplit(text, '\n')) {}

  // Each document is parsed alone, after as many empty lines as precede it in the file, so that its
  // places are those of the whole file.
  std::vector<FoundRules> Find() {
    size_t begin = 0, documents = 0;
    for (size_t i = 0; i <= lines_.size() && !full_; ++i) {
      const bool ends = i == lines_.size() || lines_[i] == "---" || lines_[i] == "---\r" ||
                        absl::StartsWith(lines_[i], "--- ");
      if (!ends) continue;
      if (++documents > kMaxRuleSources) Refuse();
      if (!full_) ReadDocument(begin, i);
      begin = i + 1;
    }
    if (found_.empty()) {
      Findings findings(file_);
      findings.Error({}, "",
                     absl::StrCat("no ConfigMap with rules, only ", absl::StrJoin(kinds_, ", ")));
      Add({"", {.rules = nullptr, .findings = std::move(findings).Take()}});
    }
    return std::move(found_);
  }

 private:
  std::string LinesAt(size_t begin, size_t end) const {
    return absl::StrCat(std::string(begin, '\n'),
                        absl::StrJoin(lines_.begin() + static_cast<std::ptrdiff_t>(begin),
                                      lines_.begin() + static_cast<std::ptrdiff_t>(end), "\n"),
                        "\n");
  }

  void ReadDocument(size_t begin, size_t end) {
    Findings findings(file_);
    const YamlTree tree = ReadYaml(LinesAt(begin, end), findings);
    if (findings.has_errors()) {
      return Add({"", {.rules = nullptr, .findings = std::move(findings).Take()}});
    }
    if (tree.root == nullptr) return;
    const YamlNode* const items = ValueOf(tree.root, "items");
    if (items == nullptr) return ReadObject(*tree.root);
    for (const YamlNode* item : items->items) ReadObject(Follow(*item));
  }

  void ReadObject(const YamlNode& object) {
    const std::string kind = TextOf(ValueOf(&object, "kind"));
    if (kind != "ConfigMap")
      return kinds_.push_back(kind.empty() ? "an object without kind" : kind);
    const YamlNode* const metadata = ValueOf(&object, "metadata");
    const std::string ns = TextOf(ValueOf(metadata, "namespace"));
    const std::string name =
        absl::StrCat("ConfigMap ", ns, ns.empty() ? "" : "/", TextOf(ValueOf(metadata, "name")));
    const YamlNode* const data = ValueOf(&object, "data");
    // By this name both charts and the original's manifests keep them.
    if (const YamlNode* const text = ValueOf(data, "config.yaml")) {
      return ReadText(absl::StrCat(name, ", config.yaml"), *text);
    }
    if (data == nullptr) return;
    for (size_t i = 0; i + 1 < data->items.size(); i += 2) {
      const std::string key = Follow(*data->items[i]).text;
      if (!absl::EndsWith(key, ".yaml") && !absl::EndsWith(key, ".yml")) continue;
      ReadText(absl::StrCat(name, ", ", key), Follow(*data->items[i + 1]));
    }
  }

  void ReadText(std::string of, const YamlNode& text) {
    if (full_) return;
    const size_t line = static_cast<size_t>(text.place.line) - 1;
    const absl::string_view from =
        line < lines_.size() ? lines_[line].substr(std::min<size_t>(
                                   lines_[line].size(), static_cast<size_t>(text.place.column) - 1))
                             : "";
    if (absl::StartsWith(from, "|")) return Add(OfText(std::move(of), Block(line + 1), file_));
    FoundRules found = OfText(std::move(of), text.text, file_);
    // In quotes, or folded: where its lines are in the file does not show.
    for (Finding& finding : found.compiled.findings) {
      if (finding.line > 0) {
        finding.message = absl::StrCat(finding.message, " (line ", finding.line,
                                       " of the text that begins here)");
      }
      finding.line = text.place.line;
      finding.column = text.place.column;
    }
    for (auto* list : {&found.config.rules, &found.config.external_rules}) {
      for (RuleConfig& rule : *list) rule.place = text.place;
    }
    Add(std::move(found));
  }

  // The lines of a block of literal text, which YAML lets stand at any depth.
  std::string Block(size_t begin) const {
    size_t first = begin;
    while (first < lines_.size() && IsBlank(lines_[first])) ++first;
    const size_t indent = first < lines_.size() ? IndentOf(lines_[first]) : 0;
    size_t end = first;
    while (end < lines_.size() && (IsBlank(lines_[end]) || IndentOf(lines_[end]) >= indent) &&
           indent > 0) {
      ++end;
    }
    return LinesAt(begin, end);
  }

  void Refuse() {
    full_ = true;
    Findings findings(file_);
    findings.Error({}, "",
                   absl::StrCat("over ", kMaxRuleSources, " documents, or places with rules"));
    found_.push_back({"", {.rules = nullptr, .findings = std::move(findings).Take()}});
  }

  void Add(FoundRules found) {
    if (full_) return;
    if (found_.size() >= kMaxRuleSources) return Refuse();
    found_.push_back(std::move(found));
  }

  const absl::string_view file_;
  const std::vector<absl::string_view> lines_;
  std::vector<FoundRules> found_;
  std::vector<std::string> kinds_;  // of those that are no ConfigMap
  bool full_ = false;               // nothing more is read
};

}  // namespace

std::vector<FoundRules> FindRules(absl::string_view text, absl::string_view file,
                                  const std::vector<std::string>& values_path) {
  std::vector<FoundRules> found;
  if (!values_path.empty()) {
    found.push_back(OfValues("values", text, file, values_path));
    return found;
  }
  Findings ignored(file);
  const YamlTree tree = text.size() <= kMaxFileBytes ? ReadYaml(text, ignored) : YamlTree();
  if (ValueOf(tree.root, "kind") != nullptr) return Objects(text, file).Find();
  const YamlNode* const rules = ValueOf(tree.root, "rules");
  if (IsChartRules(rules)) {
    found.push_back(OfValues("values", text, file, {}));
    if (HasRulesElsewhere(*rules)) DropNoRules(found[0].compiled);
  } else {
    found.push_back(OfText("", text, file));
  }
  return found;
}

}  // namespace flyball::rules
