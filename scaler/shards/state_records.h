// The ConfigMaps in which the states of a shard's autoscalers are saved, one for each shard.
//
// An annotation says which owner wrote a record, so that nobody overwrites the record of a later
// owner. Thread-safe: it has no state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "kube/client/api_client.h"
#include "scaler/shards/election.h"
#include "scaler/stores/state_store_codec.h"

namespace flyball::scaler {

struct StateRecord {
  std::string resource_version;  // "" when there is no ConfigMap
  int64_t epoch = -1;            // of the term in which it was written; -1: by nobody
  int64_t division = 0;
  std::string bytes;  // as EncodeShard makes them
};

// Orders the autoscalers for a record that has no room for all: first the one of each namespace
// with the newest recommendation, then the second of each, and so on.
void OrderForRecord(std::vector<KeptAutoscaler>& autoscalers);

class StateRecords {
 public:
  // `ns`: the namespace of the ConfigMaps; `prefix`: how their names begin. `client` and `clock`
  // outlive this object.
  StateRecords(std::string ns, std::string prefix, kube::ApiClient& client, Clock& clock);

  // Reads what is saved of a shard, with its times moved to our clock. A ConfigMap whose content
  // does not decode counts as empty; an answer that is no ConfigMap is an error.
  absl::Status Read(int index, StateRecord& record, KeptShard& kept) const;

  // Writes if the ConfigMap still has `resource_version`. Returns its new resource version.
  absl::StatusOr<std::string> PutOnce(int index, const ShardTerm& writer, const std::string& bytes,
                                      const std::string& resource_version) const;

  // Does the same, but tries once more after a conflict unless a later owner has written.
  absl::StatusOr<std::string> Put(int index, const ShardTerm& writer, const std::string& bytes,
                                  std::string resource_version) const;

  // "ConfigMap NAMESPACE/NAME".
  std::string NameForLog(int index) const;

 private:
  std::string Name(int index) const;
  std::string Path(int index) const;
  std::string Document(int index, const ShardTerm& writer, const std::string& bytes,
                       const std::string& resource_version) const;

  const std::string ns_, prefix_;
  kube::ApiClient& client_;
  Clock& clock_;
};

// Moves what is saved for `before` shards into the records of `shards`, as the division with that
// number (ShardMemory::Move; move_states.cc). `most_bytes`: of one record. What was moved before an
// error is found again by the next try.
absl::Status MoveStates(const StateRecords& records, Clock& clock, int before, int shards,
                        int64_t division, size_t most_bytes);

}  // namespace flyball::scaler
