#include "rule_tests/test_file.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <functional>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/go/text.h"
#include "kube/objects/yaml_text.h"
#include "promql/engine/series_notation.h"
#include "promql/parser.h"

namespace flyball::rule_tests {
namespace {

// Aliases can make a small file endless.
constexpr int kMaxDepth = 50;
constexpr int kMaxValues = 200'000;

rules::Place PlaceOf(const YAML::Mark& mark) {
  return mark.is_null() ? rules::Place{} : rules::Place{mark.line + 1, mark.column + 1};
}
rules::Place PlaceOf(const YAML::Node& node) { return PlaceOf(node.Mark()); }

std::string Describe(const YAML::Node& node) {
  if (node.IsMap()) return "a mapping";
  if (node.IsSequence()) return "a list";
  if (node.IsNull()) return "nothing";
  return go::Quote(node.Scalar().substr(0, 60));
}

class Reader {
 public:
  explicit Reader(rules::Findings& findings) : findings_(findings) {}

  RuleTestFile ReadFile(const YAML::Node& root);

 private:
  using ReadField = std::function<void(const YAML::Node&, const std::string& path)>;
  struct Key {
    absl::string_view name;
    ReadField read;
  };

  void Error(const YAML::Node& node, const std::string& path, std::string message) {
    findings_.Error(PlaceOf(node), path, std::move(message));
  }
  void Wrong(const YAML::Node& node, const std::string& path, absl::string_view expected) {
    Error(node, path, absl::StrCat("found ", Describe(node), ", expected ", expected));
  }

  // False once aliases have made the file too large; said once.
  bool Count(const YAML::Node& node, const std::string& path) {
    if (++values_ == kMaxValues) {
      Error(node, path, absl::StrCat("aliases expand the file to over ", kMaxValues, " values"));
    }
    return values_ < kMaxValues;
  }

  // Each key once, and none but these. False: not a mapping.
  bool ReadMap(const YAML::Node& node, const std::string& path, const std::vector<Key>& keys);
  void ReadList(const YAML::Node& node, const std::string& path, const ReadField& read_item);

  std::optional<std::string> Text(const YAML::Node& node, const std::string& path);
  ReadField Into(std::string& out);
  ReadField Into(absl::Duration& out);
  ReadField Into(std::vector<rules::TextField>& out);
  template <typename T>
  ReadField Into(std::optional<T>& out) {
    return [this, &out](const YAML::Node& node, const std::string& path) {
      Into(out.emplace())(node, path);
    };
  }

  void ReadSeries(const YAML::Node& node, const std::string& path, RuleTestFile* file);
  void ReadLabels(const YAML::Node& node, const std::string& path, InputSeries* series);
  void ReadObject(const YAML::Node& node, const std::string& path, RuleTestFile* file);
  void ReadTest(const YAML::Node& node, const std::string& path, RuleTestFile* file);
  Expected ReadExpected(const YAML::Node& node, const std::string& path, int depth);

  rules::Findings& findings_;
  int values_ = 0;
};

bool Reader::ReadMap(const YAML::Node& node, const std::string& path,
                     const std::vector<Key>& keys) {
  if (!node.IsMap()) {
    Wrong(node, path, "a mapping");
    return false;
  }
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
    const std::string field = path.empty() ? name : absl::StrCat(path, ".", name);
    const auto key = std::find_if(keys.begin(), keys.end(),
                                  [&name](const Key& one) { return one.name == name; });
    if (key == keys.end()) {
      Error(entry.first, field,
            absl::StrCat("unknown key, expected one of ",
                         absl::StrJoin(keys, ", ", [](std::string* out, const Key& one) {
                           absl::StrAppend(out, one.name);
                         })));
    } else if (!seen.insert(name).second) {
      Error(entry.first, field, "given twice");
    } else {
      key->read(entry.second, field);
    }
  }
  return true;
}

void Reader::ReadList(const YAML::Node& node, const std::string& path, const ReadField& read_item) {
  if (node.IsNull()) return;
  if (!node.IsSequence()) return Wrong(node, path, "a list");
  for (size_t i = 0; i < node.size() && Count(node, path); ++i) {
    read_item(node[i], absl::StrCat(path, "[", i, "]"));
  }
}

std::optional<std::string> Reader::Text(const YAML::Node& node, const std::string& path) {
  if (node.IsScalar()) return node.Scalar();
  Wrong(node, path, "text");
  return std::nullopt;
}

Reader::ReadField Reader::Into(std::string& out) {
  return [this, &out](const YAML::Node& node, const std::string& path) {
    if (auto text = Text(node, path)) out = *std::move(text);
  };
}

Reader::ReadField Reader::Into(absl::Duration& out) {
  return [this, &out](const YAML::Node& node, const std::string& path) {
    const auto text = Text(node, path);
    if (!text) return;
    const auto duration = rules::ParsePrometheusDuration(*text);
    if (!duration) return Wrong(node, path, "a duration as 5m or 1h30m");
    out = *duration;
  };
}

Reader::ReadField Reader::Into(std::vector<rules::TextField>& out) {
  return [this, &out](const YAML::Node& node, const std::string& path) {
    ReadList(node, path, [this, &out](const YAML::Node& item, const std::string& item_path) {
      if (auto text = Text(item, item_path)) out.push_back({*std::move(text), PlaceOf(item)});
    });
  };
}

RuleTestFile Reader::ReadFile(const YAML::Node& root) {
  RuleTestFile file;
  const auto items =
      [this, &file](void (Reader::*read)(const YAML::Node&, const std::string&, RuleTestFile*)) {
        return [this, &file, read](const YAML::Node& node, const std::string& path) {
          ReadList(node, path, [this, &file, read](const YAML::Node& item, const std::string& at) {
            (this->*read)(item, at, &file);
          });
        };
      };
  const bool is_map = ReadMap(root, "",
                              {{"rule_files", Into(file.rule_files)},
                               {"evaluation_time", Into(file.evaluation_time)},
                               {"interval", Into(file.interval)},
                               {"input_series", items(&Reader::ReadSeries)},
                               {"objects", items(&Reader::ReadObject)},
                               {"object_files", Into(file.object_files)},
                               {"tests", items(&Reader::ReadTest)}});
  if (!is_map) return file;
  if (file.rule_files.empty()) Error(root, "rule_files", "missing, expected at least one file");
  if (file.tests.empty()) Error(root, "tests", "missing, expected at least one test");
  if (file.interval <= absl::ZeroDuration()) Error(root, "interval", "must be greater than 0");
  return file;
}

void Reader::ReadSeries(const YAML::Node& node, const std::string& path, RuleTestFile* file) {
  InputSeries series;
  const auto read_values = [this, &series](const YAML::Node& value, const std::string& at) {
    const auto text = Text(value, at);
    if (!text) return;
    auto values = promql::ParseSeriesValues(*text);
    if (!values.ok()) return Error(value, at, std::string(values.status().message()));
    series.values = *std::move(values);
  };
  const auto read_labels = [this, &series](const YAML::Node& value, const std::string& at) {
    ReadLabels(value, at, &series);
  };
  if (!ReadMap(node, path, {{"series", read_labels}, {"values", read_values}})) return;
  if (!node["series"]) Error(node, path + ".series", "missing");
  if (!node["values"]) Error(node, path + ".values", "missing");
  file->input_series.push_back(std::move(series));
}

void Reader::ReadLabels(const YAML::Node& node, const std::string& path, InputSeries* series) {
  const auto text = Text(node, path);
  if (!text) return;
  const auto selector = promql::ParseSeriesSelector(*text);
  if (!selector.ok()) return Error(node, path, std::string(selector.status().message()));
  for (const promql::Matcher& matcher : selector->matchers) {
    if (matcher.op() != promql::Matcher::Op::kEqual) {
      return Error(node, path,
                   absl::StrCat("found ", matcher.ToString(), ", expected labels with `=`"));
    }
    series->labels.emplace_back(matcher.label(), matcher.value());
  }
}

void Reader::ReadObject(const YAML::Node& node, const std::string& path, RuleTestFile* file) {
  auto objects = kube::ReadManifest(YAML::Dump(node), "");
  if (!objects.ok()) {
    // The place it names is one in the object alone: `:line:column: what`.
    const std::vector<std::string> parts =
        absl::StrSplit(objects.status().message(), absl::MaxSplits(": ", 1));
    return Error(node, path, parts.back());
  }
  for (kube::ManifestObject& object : *objects) file->objects.push_back(std::move(object));
}

void Reader::ReadTest(const YAML::Node& node, const std::string& path, RuleTestFile* file) {
  RuleTest test;
  test.place = PlaceOf(node);
  const auto read_promql = [this, &test](const YAML::Node& value, const std::string& at) {
    test.promql.emplace();
    const ReadField one = [this, &test](const YAML::Node& item, const std::string& item_at) {
      if (auto text = Text(item, item_at)) test.promql->push_back(*std::move(text));
    };
    value.IsScalar() ? one(value, at) : ReadList(value, at, one);
  };
  const auto read_code = [this, &test](const YAML::Node& value, const std::string& at) {
    const auto text = Text(value, at);
    if (text && !absl::SimpleAtoi(*text, &test.code)) Wrong(value, at, "an HTTP status code");
  };
  const auto read_answer = [this, &test](const YAML::Node& value, const std::string& at) {
    test.answer = ReadExpected(value, at, 0);
  };
  if (!ReadMap(node, path,
               {{"name", Into(test.name)},
                {"request", Into(test.request)},
                {"eval_time", Into(test.eval_time)},
                {"promql", read_promql},
                {"answer", read_answer},
                {"code", read_code},
                {"message", Into(test.message)}})) {
    return;
  }
  if (test.request.empty()) {
    Error(node, path + ".request", "missing, expected a path as /apis/custom.metrics.k8s.io/…");
  }
  if (test.name.empty()) test.name = test.request;
  file->tests.push_back(std::move(test));
}

Expected Reader::ReadExpected(const YAML::Node& node, const std::string& path, int depth) {
  Expected expected;
  if (!Count(node, path)) return expected;
  if (depth > kMaxDepth) {
    values_ = kMaxValues;  // an alias that holds itself: go no further anywhere
    Error(node, path, "nested too deep");
  } else if (node.IsMap()) {
    expected.kind = Expected::Kind::kMap;
    for (const auto& entry : node) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      expected.keys.push_back(key);
      expected.items.push_back(ReadExpected(entry.second, absl::StrCat(path, ".", key), depth + 1));
    }
  } else if (node.IsSequence()) {
    expected.kind = Expected::Kind::kList;
    for (size_t i = 0; i < node.size(); ++i) {
      expected.items.push_back(ReadExpected(node[i], absl::StrCat(path, "[", i, "]"), depth + 1));
    }
  } else if (node.IsScalar()) {
    expected.kind = Expected::Kind::kText;
    expected.text = node.Scalar();
  }
  return expected;
}

}  // namespace

RuleTestFile ReadRuleTestFile(absl::string_view text, rules::Findings& findings) {
  if (text.size() > kMaxTestFile) {
    findings.Error({}, "", absl::StrCat("larger than ", kMaxTestFile, " bytes"));
    return {};
  }
  try {
    const std::vector<YAML::Node> documents = kube::LoadYamlDocuments(std::string(text));
    if (documents.size() == 1) return Reader(findings).ReadFile(documents[0]);
    findings.Error({}, "", absl::StrCat("holds ", documents.size(), " documents, expected one"));
  } catch (const YAML::Exception& e) {
    findings.Error(PlaceOf(e.mark), "", absl::StrCat("not YAML: ", e.msg));
  }
  return {};
}

}  // namespace flyball::rule_tests
