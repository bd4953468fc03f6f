// Writes the protobuf wire format, as far as the Kubernetes encodings of the served types need it.
//
// Pure. The messages are few and fixed, so there is no schema compiler: each encoder names its
// field numbers, which are those of the generated.proto files of k8s.io/api, k8s.io/apimachinery
// and k8s.io/metrics v0.34.4.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace flyball::apiservice::wire {

class ProtoWriter {
 public:
  ProtoWriter() = default;
  explicit ProtoWriter(std::string before) : bytes_(std::move(before)) {}

  void String(int field, absl::string_view value);  // written even when empty, as Go's does
  void Int(int field, int64_t value);
  void Bool(int field, bool value) { Int(field, value ? 1 : 0); }
  void Message(int field, const ProtoWriter& message) { String(field, message.bytes()); }

  // Composite values that several messages share.
  void Time(int field, absl::Time time);             // meta/v1 Time
  void Quantity(int field, absl::string_view text);  // resource.Quantity
  void MapEntry(int field, absl::string_view key, absl::string_view value);

  const std::string& bytes() const { return bytes_; }
  std::string Take() && { return std::move(bytes_); }

 private:
  void Varint(uint64_t value);
  std::string bytes_;
};

// meta/v1 ListMeta of an answer: selfLink, resourceVersion and continue, all empty.
ProtoWriter EmptyListMeta();

// `k8s\0` + runtime.Unknown{typeMeta{apiVersion, kind}, raw}: the body of
// application/vnd.kubernetes.protobuf.
std::string ProtoEnvelope(absl::string_view api_version, absl::string_view kind,
                          const ProtoWriter& object);

}  // namespace flyball::apiservice::wire
