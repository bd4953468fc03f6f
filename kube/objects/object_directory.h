// Which objects exist, with their labels: those of an API server (list and watch), or the fixed
// ones of a rule test.
//
// Thread-safe. Answers come from memory after the first request for a resource; the first one may
// wait for a list.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/objects/rest_mapping.h"
#include "kube/objects/selector.h"

namespace flyball::kube {

struct ObjectMeta {
  std::string ns;  // "" for cluster-scoped objects
  std::string name;
  Labels labels;

  friend bool operator==(const ObjectMeta&, const ObjectMeta&) = default;
};

using ObjectPtr = std::shared_ptr<const ObjectMeta>;

struct ObjectQuery {
  GroupResource resource;
  std::string ns;             // "" is all namespaces (or cluster scope)
  Selector selector = {};     // empty: all
  bool running_only = false;  // pods only: status.phase=Running
  absl::Duration timeout = absl::Seconds(45);
};

// All objects of a resource.
struct ObjectSet {
  GroupResource resource;
  bool running_only = false;  // pods only: status.phase=Running
  friend bool operator==(const ObjectSet&, const ObjectSet&) = default;
};

class ObjectDirectory {
 public:
  virtual ~ObjectDirectory() = default;

  // From now on these sets are kept current even if nobody asks for them, so that they can be
  // returned while the API server is unreachable. They replace those of the last call.
  virtual void Keep(std::vector<ObjectSet> /*sets*/) {}
  // OK once each of these sets has been listed, or the API server has refused to list it.
  virtual absl::Status Kept() const { return absl::OkStatus(); }

  // Matching objects sorted by namespace, name.
  //   kNotFound     the resource is not known
  //   kUnavailable  the API server cannot be asked and nothing is cached
  virtual absl::StatusOr<std::vector<ObjectPtr>> List(const ObjectQuery& query) = 0;

  // One object; nullptr when it does not exist.
  virtual absl::StatusOr<ObjectPtr> Get(const GroupResource& resource, absl::string_view ns,
                                        absl::string_view name, bool running_only) = 0;

  // The resources that are known now. Never nullptr; empty before the first discovery.
  virtual std::shared_ptr<const RestMapper> mapper() const = 0;

  // To be called after a look-up of a resource that mapper() does not know (yet): a directory of a
  // cluster then repeats the discovery soon, but only every few seconds.
  virtual void ResourceMissed() {}

  // Grows whenever an answer of List, Get or mapper may have changed. One atomic load.
  virtual uint64_t Generation() const = 0;
};

}  // namespace flyball::kube
