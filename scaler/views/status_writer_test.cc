#include "scaler/views/status_writer.h"

#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"
#include "base/test_thread_limit.h"
#include "scaler/testing/test_status_world.h"

namespace flyball::scaler {
namespace {

TEST(StatusWriter, WritesWithFewerThreadsIfNotAllCanBeMade) {
  StatusWorld world;
  {
    const ThreadLimit one(1);
    world.MakeWriter(4);
  }
  world.Offer(StatusWorld::NewOutbox(), 4, absl::ZeroDuration());
  world.writer->Flush(absl::Seconds(10));
  EXPECT_TRUE(world.Desires(4));
}

TEST(StatusWriter, WaitsUntilAStatusIsDue) {
  StatusWorld world;
  const StatusWriter::OutboxPtr outbox = StatusWorld::NewOutbox();
  world.Offer(outbox, 4, absl::Seconds(1));
  world.writer->Release(world.clock.MonotonicNow() + absl::Milliseconds(999));
  world.WriteAnother();
  EXPECT_EQ(world.Writes(), 0);
  world.writer->Release(world.clock.MonotonicNow() + absl::Seconds(1));
  world.WriteAnother();
  EXPECT_TRUE(world.Desires(4));
}

TEST(StatusWriter, OfThoseThatWaitTheNewestIsWrittenWhenTheFirstIsDue) {
  StatusWorld world;
  const StatusWriter::OutboxPtr outbox = StatusWorld::NewOutbox();
  world.Offer(outbox, 4, absl::Seconds(1));
  world.Offer(outbox, 6, absl::Seconds(2));
  world.writer->Release(world.clock.MonotonicNow() + absl::Seconds(1));
  world.WriteAnother();
  EXPECT_TRUE(world.Desires(6));
  world.writer->Release(absl::InfiniteDuration());
  world.WriteAnother();
  EXPECT_EQ(world.Writes(), 1);
}

TEST(StatusWriter, WhatIsDueNowTakesTheWaitingOnesPlace) {
  StatusWorld world;
  const StatusWriter::OutboxPtr outbox = StatusWorld::NewOutbox();
  world.Offer(outbox, 4, absl::Seconds(1));
  world.Offer(outbox, 6, absl::ZeroDuration());
  world.WriteAnother();
  EXPECT_TRUE(world.Desires(6));
  world.writer->Release(absl::InfiniteDuration());
  world.WriteAnother();
  EXPECT_EQ(world.Writes(), 1);
}

TEST(StatusWriter, WhatIsOfferedDuringAWriteWaitsForItsOwnTime) {
  StatusWorld world;
  const StatusWriter::OutboxPtr outbox = StatusWorld::NewOutbox();
  absl::Notification writing, go_on;
  world.api.OnRequest([&](const http::HttpCall& call) {
    if (call.method != "PATCH" || writing.HasBeenNotified()) return;
    writing.Notify();
    go_on.WaitForNotification();
  });
  world.Offer(outbox, 4, absl::ZeroDuration());
  writing.WaitForNotification();
  world.Offer(outbox, 6, absl::Seconds(1));
  go_on.Notify();
  world.WriteAnother();
  EXPECT_EQ(world.Writes(), 1);
  EXPECT_TRUE(world.Desires(4));
  world.writer->Flush(absl::Seconds(10));
  EXPECT_TRUE(world.Desires(6));
}

TEST(StatusWriter, APlaceThatIsLeftInTheOtherQueueBringsNothingForward) {
  StatusWorld world;
  world.MakeWriter(0);
  const StatusWriter::OutboxPtr outbox = StatusWorld::NewOutbox();
  world.Offer(outbox, 4, absl::ZeroDuration(), "web", "shop", /*urgent=*/false);
  world.Offer(outbox, 5, absl::ZeroDuration());
  EXPECT_TRUE(world.writer->WriteNext());
  world.Offer(outbox, 6, absl::Hours(1));
  EXPECT_TRUE(world.writer->WriteNext());
  EXPECT_TRUE(world.Desires(5));
  world.writer->Release(absl::InfiniteDuration());
  EXPECT_TRUE(world.writer->WriteNext());
  EXPECT_FALSE(world.writer->WriteNext());
  EXPECT_TRUE(world.Desires(6));
}

TEST(StatusWriter, KnowsWhatWasSeenBeforeItsLastWrite) {
  StatusWorld world;
  const StatusWriter::OutboxPtr outbox = StatusWorld::NewOutbox();
  const ManagedPtr before = world.Read();
  EXPECT_FALSE(world.writer->WroteAfter(outbox, *before));
  world.Offer(outbox, 4, absl::ZeroDuration());
  world.writer->Flush(absl::Seconds(10));
  EXPECT_TRUE(world.writer->WroteAfter(outbox, *before));
  EXPECT_FALSE(world.writer->WroteAfter(outbox, *world.Read()));
}

TEST(StatusWriter, AFlushReturnsWhenAllIsWritten) {
  StatusWorld world;
  const StatusWriter::OutboxPtr web = StatusWorld::NewOutbox(), other = StatusWorld::NewOutbox();
  world.Offer(web, 4, absl::Hours(1));
  world.Offer(other, 6, absl::Hours(2), "other");
  world.writer->Flush(absl::Seconds(10));
  EXPECT_TRUE(world.Desires(4));
  EXPECT_TRUE(world.Desires(6, "other"));
}

TEST(StatusWriter, NamespacesTakeTurns) {
  StatusWorld world;
  world.MakeWriter(0);
  for (int i = 0; i < 3; ++i) world.Offer(StatusWorld::NewOutbox(), i, absl::ZeroDuration());
  world.Offer(StatusWorld::NewOutbox(), 7, absl::ZeroDuration(), "quiet", "bank");
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(world.writer->WriteNext());
  EXPECT_TRUE(world.Desires(7, "quiet", "bank"));
  while (world.writer->WriteNext()) continue;
  EXPECT_EQ(world.Writes(), 3);
}

}  // namespace
}  // namespace flyball::scaler
