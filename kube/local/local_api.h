// Answers requests of the Kubernetes API from the objects of a store: discovery, get, list (pages,
// selectors, metadata only), create, update, merge patch, delete, watch, and the subresources
// status and scale.
//
// Not thread-safe; no clock, no threads. Not here: admission, defaults and validation of fields,
// access control, other patch types.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "http/client/transport.h"
#include "kube/local/local_object_store.h"
#include "kube/local/local_request.h"

namespace flyball::kube {

class LocalApi {
 public:
  // One open watch.
  struct Watch {
    explicit Watch(const http::HttpCall& call);

    LocalQuery query;
    LocalTarget target = {};
    bool metadata_only = false;
    uint64_t version = 0;  // all changes up to here have been sent
  };

  LocalObjectStore& store() { return store_; }
  const LocalObjectStore& store() const { return store_; }

  http::HttpAnswer Serve(const http::HttpCall& call);

  // Finds the collection of a watch; false: there is no such resource, or it cannot be watched.
  // `text` gets the first lines for the watch.
  bool Open(Watch& watch, std::string& text) const;
  bool HasNews(const Watch& watch) const {
    return watch.version < store_.version() || watch.version <= store_.expired();
  }
  // The changes since then, as lines; or, with `expired`, the error event if they are forgotten.
  std::string News(Watch& watch, bool& expired) const;

  // From now on the remaining pages of lists are answered with 410.
  void ForgetPages() { pages_.clear(); }

 private:
  using Objects = std::deque<LocalObjectStore::Object>;

  LocalAnswer Write(const http::HttpCall& call, const LocalTarget& target,
                    const nlohmann::json& body);
  LocalAnswer List(const http::HttpCall& call, const LocalQuery& query, const LocalTarget& target);
  bool RestOfPages(const std::string& token, Objects& left);

  LocalObjectStore store_;
  std::map<uint64_t, Objects> pages_;  // the remaining pages by token
  uint64_t next_page_ = 0;
};

}  // namespace flyball::kube
