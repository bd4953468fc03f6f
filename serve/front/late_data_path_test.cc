#include "serve/front/late_data_path.h"

#include <gtest/gtest.h>

#include <thread>

#include "absl/synchronization/notification.h"

namespace flyball::serve {
namespace {

// In BeginServing it stays until `late` does not lead to it any more.
class Path : public front::DataPath {
 public:
  Path(LateDataPath& late, absl::Notification& called, std::thread::id& ended_on)
      : late_(late), called_(called), ended_on_(ended_on) {}
  ~Path() override { ended_on_ = std::this_thread::get_id(); }

  void Put(front::Resource, uint64_t) override {}
  void Remove(front::ResourceKind, const std::string&) override {}
  void BeginServing(const std::vector<std::string>&) override {
    called_.Notify();
    while (late_.is_set()) std::this_thread::yield();
  }
  void Release(front::RequestId, std::optional<std::string>) override {}
  void Refuse(front::RequestId, const front::Refusal&) override {}

 private:
  LateDataPath& late_;
  absl::Notification& called_;
  std::thread::id& ended_on_;
};

// The end of gRPC's server waits for its own threads, and would wait for itself on one of them.
TEST(LateDataPath, OneThatIsCalledEndsOnTheThreadThatTakesItAway) {
  LateDataPath late;
  absl::Notification called;
  std::thread::id ended_on;
  late.Set(std::make_unique<Path>(late, called, ended_on));
  std::thread caller([&] { late.BeginServing({}); });
  called.WaitForNotification();
  late.Set(nullptr);
  EXPECT_EQ(ended_on, std::this_thread::get_id());
  caller.join();
  late.BeginServing({});  // is dropped
}

}  // namespace
}  // namespace flyball::serve
