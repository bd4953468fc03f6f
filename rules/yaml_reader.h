// Reads a YAML tree by keys, lists and scalars as yaml.v2 decodes into Go's structs in strict mode:
// an unknown or repeated key is an error, merge keys act at their position, null leaves a field
// unset.
//
// Pure; not thread-safe. The reader of each kind of file derives from this one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "rules/config.h"
#include "rules/yaml_tree.h"

namespace flyball::rules {

// Whether it means null.
bool IsNothing(const YamlNode& node);
// Null and NULL: the original treats them as null, but they set a pointer: to false, or to an empty
// struct. As a duration they are read as an empty text, which is none.
bool IsCapitalNull(const YamlNode& node);
// A bool of YAML 1.1, as yaml.v2 resolves plain scalars.
std::optional<bool> ReadBool(const YamlNode& node);
// "parent.key", or `parent["odd key"]`.
std::string FieldPath(absl::string_view parent, absl::string_view key);

class YamlReader {
 public:
  explicit YamlReader(Findings& findings) : findings_(findings) {}

 protected:
  using ReadField = std::function<void(const YamlNode&, const std::string& path)>;
  struct Key {
    absl::string_view name;
    ReadField read;
  };
  using Keys = std::vector<Key>;

  void Wrong(const YamlNode& node, const std::string& path, absl::string_view expected);
  // False once the expanded anchors have made the file too large.
  bool Count(const YamlNode& node, const std::string& path);
  // nullopt: its error has been reported.
  std::optional<std::string> TextOf(const YamlNode& node, const std::string& path);
  // Calls `on_entry(key, value)` for each entry that is no merge.
  void ForEachEntry(const YamlNode& map, const std::string& path,
                    const std::function<void(const YamlNode&)>& on_merged,
                    const std::function<void(const YamlNode&, const YamlNode&)>& on_entry);
  // Calls `read` with the path of each item.
  void ReadItems(const YamlNode& node, const std::string& path, const ReadField& read);
  void ReadMap(const YamlNode& node, const std::string& path, const Keys& keys);

  void Read(const YamlNode& node, const std::string& path, TextField& out);
  void Read(const YamlNode& node, const std::string& path, std::optional<bool>& out);
  void Read(const YamlNode& node, const std::string& path, absl::Duration& out);

  Findings& findings_;

 private:
  static std::string UnknownKey(const std::string& name, const Keys& keys);
  void Merge(const YamlNode& value, const std::string& path,
             const std::function<void(const YamlNode&)>& read);

  int values_ = 0;
  int merges_ = 0;
};

}  // namespace flyball::rules
