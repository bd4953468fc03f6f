// The objects of the fake API server, with the rules of resourceVersions.
//
// Internal to kube/testing. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/string_view.h"
#include "kube/objects/rest_mapping.h"
#include "nlohmann/json.hpp"

namespace flyball::kube {

struct FakeKind {
  ResourceInfo info;
  bool custom = false;
  bool scale = false;
  bool status = false;

  std::string ApiVersion() const;
};

// Where a path leads.
struct FakeTarget {
  const FakeKind* kind = nullptr;  // nullptr: nowhere
  std::string ns, name, subresource;
};

struct FakeAnswer {
  int status = 200;
  nlohmann::json body;
};

// A Status object, as the API server fails.
FakeAnswer FakeFailure(int status, absl::string_view reason, absl::string_view message);

class FakeObjectStore {
 public:
  using Key = std::tuple<std::string, std::string, std::string>;  // resource.group, ns, name
  struct Change {
    uint64_t version = 0;
    Key key;
    nlohmann::json before, after;  // null: there was none, there is none any more
  };

  FakeObjectStore();

  void AddKind(const ResourceInfo& info, bool scale);
  const std::deque<FakeKind>& kinds() const { return kinds_; }
  FakeTarget Find(absl::string_view path) const;
  const FakeKind* FindKind(absl::string_view api_version, absl::string_view kind) const;

  FakeAnswer Get(const FakeTarget& target) const;
  FakeAnswer Create(const FakeTarget& target, nlohmann::json object);
  FakeAnswer Update(const FakeTarget& target, nlohmann::json object);
  FakeAnswer MergePatch(const FakeTarget& target, const nlohmann::json& patch);
  FakeAnswer Delete(const FakeTarget& target);
  // Without any condition, status and all.
  nlohmann::json Force(const FakeTarget& target, nlohmann::json object);

  // Sorted by namespace and name.
  std::vector<nlohmann::json> List(const FakeTarget& target) const;
  uint64_t version() const { return version_; }

  // Of all collections, in order.
  const std::deque<Change>& changes() const { return changes_; }
  uint64_t expired() const { return expired_; }  // changes up to this version are forgotten
  void Expire();

 private:
  static Key KeyOf(const FakeTarget& target);
  const nlohmann::json* Stored(const FakeTarget& target) const;
  FakeAnswer Store(const FakeTarget& target, nlohmann::json object);
  FakeAnswer UpdateScale(const FakeTarget& target, const nlohmann::json& scale);

  std::deque<FakeKind> kinds_;  // pointers to them stay
  std::map<Key, nlohmann::json> objects_;
  std::deque<Change> changes_;
  uint64_t version_ = 1;
  uint64_t expired_ = 0;
  uint64_t uids_ = 0;
};

// Whether an object has these labels and fields; "" is all. Fields are dotted paths to texts.
bool FakeSelects(const nlohmann::json& object, const std::string& label_selector,
                 const std::string& field_selector);

}  // namespace flyball::kube
