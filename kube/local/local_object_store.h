// The objects of the API server of this process, with the rules of resourceVersions.
//
// For this room and for test doubles only. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/objects/rest_mapping.h"
#include "nlohmann/json.hpp"

namespace flyball::kube {

struct LocalKind {
  ResourceInfo info;
  bool custom = false;
  bool scale = false;
  bool status = false;

  std::string ApiVersion() const;
};

// The kind and object that a path names.
struct LocalTarget {
  const LocalKind* kind = nullptr;  // nullptr: nothing
  std::string ns, name, subresource;
};

struct LocalAnswer {
  int status = 200;
  nlohmann::json body;
};

// A Status object like those of the API server.
LocalAnswer LocalFailure(int status, absl::string_view reason, absl::string_view message);

class LocalObjectStore {
 public:
  using Key = std::tuple<std::string, std::string, std::string>;  // resource.group, ns, name
  using Object = std::shared_ptr<const nlohmann::json>;           // the changes share it
  struct Change {
    uint64_t version = 0;
    Key key;
    Object before, after;  // null: it did not exist, it no longer exists
  };

  LocalObjectStore();

  // A kind of that name that somebody has added gets `info`, and keeps whether it has a scale; its
  // objects are to be removed first. A kind that every cluster has stays as it is.
  void AddKind(const ResourceInfo& info, bool scale);
  const std::deque<LocalKind>& kinds() const { return kinds_; }
  LocalTarget Find(absl::string_view path) const;
  const LocalKind* FindKind(absl::string_view api_version, absl::string_view kind) const;

  LocalAnswer Get(const LocalTarget& target) const;
  LocalAnswer Create(const LocalTarget& target, nlohmann::json object);
  LocalAnswer Update(const LocalTarget& target, nlohmann::json object);
  LocalAnswer MergePatch(const LocalTarget& target, const nlohmann::json& patch);
  LocalAnswer Delete(const LocalTarget& target);
  // Stores the object with its status, without any check.
  nlohmann::json Force(const LocalTarget& target, nlohmann::json object);

  // Sorted by namespace and name.
  std::vector<Object> List(const LocalTarget& target) const;
  uint64_t version() const { return version_; }

  // The changes of all collections, in order.
  const std::deque<Change>& changes() const { return changes_; }
  uint64_t expired() const { return expired_; }  // changes up to this version are forgotten
  void Expire();
  // Keeps at most that many changes from now on. Without this call all are kept.
  void KeepChanges(size_t most) { most_changes_ = most; }
  // Sets the creation time of objects that are stored from now on.
  void SetTime(absl::Time now) { now_ = now; }

 private:
  void Record(Change change);
  static Key KeyOf(const LocalTarget& target);
  const nlohmann::json* Stored(const LocalTarget& target) const;
  LocalAnswer Store(const LocalTarget& target, nlohmann::json object);
  LocalAnswer UpdateScale(const LocalTarget& target, const nlohmann::json& scale);

  std::deque<LocalKind> kinds_;  // pointers to them stay
  std::map<Key, Object> objects_;
  std::deque<Change> changes_;
  uint64_t version_ = 1;
  uint64_t expired_ = 0;
  uint64_t uids_ = 0;
  size_t most_changes_ = std::numeric_limits<size_t>::max();
  absl::Time now_ = absl::FromUnixSeconds(1767225600);  // the start of 2026, until one is set
};

// Whether an object has these labels and fields; "" is all. Fields are dotted paths to texts.
bool IsSelected(const nlohmann::json& object, const std::string& label_selector,
                const std::string& field_selector);

}  // namespace flyball::kube
