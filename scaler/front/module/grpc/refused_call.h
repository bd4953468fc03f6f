// A call that ends as soon as it has begun.
#pragma once

namespace grpc {
class Status;
}  // namespace grpc

namespace flyball::front {

// `Reactor` is a reactor class of gRPC. The call deletes itself.
template <typename Reactor>
class RefusedCall : public Reactor {
 public:
  explicit RefusedCall(const grpc::Status& status) { this->Finish(status); }

 private:
  void OnDone() override { delete this; }
};

}  // namespace flyball::front
