#include "kube/watch/object_watch.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "kube/objects/object_json.h"
#include "kube/testing/fake_api_server.h"
#include "kube/watch/object_list.h"

namespace flyball::kube {
namespace {

std::string Pod(absl::string_view name, absl::string_view app = "x",
                absl::string_view ns = "shop") {
  return absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
                      R"(","namespace":")", ns, R"(","labels":{"app":")", app, R"("}}})");
}

// Writes down what it is told: "(" and ")" around a list, names of what was listed, "+name",
// "*name" and "-name" of changes, and codes of statuses; if asked for also when a stream is open
// and when none is.
class Diary : public WatchHandler {
 public:
  explicit Diary(bool of_streams = false) : of_streams_(of_streams) {}
  void ListStarted() override { Add("("); }
  void Listed(absl::string_view object) override { Add(NameOf(object)); }
  void ListEnded() override { Add(")"); }
  void Changed(ChangeType type, absl::string_view object) override {
    const char* sign = type == ChangeType::kAdded ? "+" : type == ChangeType::kDeleted ? "-" : "*";
    Add(absl::StrCat(sign, NameOf(object)));
    changed_ = true;
  }
  void Flushed() override {
    EXPECT_TRUE(changed_);
    changed_ = false;
  }
  absl::Status Acceptable() override {
    absl::MutexLock lock(&mutex_);
    return std::exchange(verdict_, absl::OkStatus());
  }
  void StatusChanged(const absl::Status& status) override {
    Add(absl::StatusCodeToString(status.code()));
    absl::MutexLock lock(&mutex_);
    message_ = std::string(status.message());
  }
  void Opening() override {
    const bool was_open = std::exchange(open_, false);
    if (was_open && of_streams_) Add("closed");
  }
  void Opened() override {
    EXPECT_FALSE(open_);
    open_ = true;
    if (of_streams_) Add("open");
  }

  // Waits for the whole of it.
  std::string Await(absl::string_view want) {
    absl::MutexLock lock(&mutex_);
    const auto there = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return absl::StrJoin(lines_, " ") == want;
    };
    mutex_.AwaitWithTimeout(absl::Condition(&there), absl::Seconds(30));
    return absl::StrJoin(lines_, " ");
  }
  std::string Text() {
    absl::MutexLock lock(&mutex_);
    return absl::StrJoin(lines_, " ");
  }
  void RefuseOnce(absl::Status verdict) {
    absl::MutexLock lock(&mutex_);
    verdict_ = std::move(verdict);
  }
  std::string message() {
    absl::MutexLock lock(&mutex_);
    return message_;
  }

 private:
  std::string NameOf(absl::string_view object) {
    EXPECT_TRUE(absl::StrContains(object, "\"apiVersion\":\"v1\"")) << object;
    EXPECT_TRUE(absl::StrContains(object, "\"kind\":\"Pod\"")) << object;
    const auto read = reader_.Read(object);
    return read.ok() ? (*read)->name : read.status().ToString();
  }
  void Add(std::string line) {
    absl::MutexLock lock(&mutex_);
    lines_.push_back(std::move(line));
  }

  MetadataReader reader_;  // the watch's thread's
  bool changed_ = false;
  const bool of_streams_;
  bool open_ = false;
  absl::Mutex mutex_;
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mutex_);
  absl::Status verdict_ ABSL_GUARDED_BY(mutex_);
  std::string message_ ABSL_GUARDED_BY(mutex_);
};

class ObjectWatchTest : public testing::Test {
 protected:
  ObjectWatchTest() {
    options_.resource = {.name = {"", "pods"}, .version = "v1", .kind = "Pod", .singular = "pod"};
    options_.first_backoff = absl::Milliseconds(1);
    options_.max_backoff = absl::Milliseconds(2);
    server_.Put(Pod("a"));
    server_.Put(Pod("b"));
  }

  void Start() {
    watch_ = std::make_unique<ObjectWatch>(options_, server_.Connect(), Clock::System(), diary_);
  }
  // The first list fails, so that the next one is read by pages.
  void DoWithoutTheCache() { server_.Inject({.method = "GET", .part = "resourceVersion=0"}); }
  // Started, the first list read and the watch open.
  void Follow() {
    Start();
    ASSERT_EQ(diary_.Await("( a b )"), "( a b )");
    ASSERT_TRUE(server_.AwaitWatches(1));
  }

  FakeApiServer server_;
  ObjectWatchOptions options_;
  Diary diary_;
  std::unique_ptr<ObjectWatch> watch_;
};

TEST_F(ObjectWatchTest, ListsThenTellsChanges) {
  server_.Put(Pod("c"));
  Start();
  EXPECT_EQ(diary_.Await("( a b c )"), "( a b c )");
  server_.Put(Pod("d"));
  server_.Put(Pod("a", "y"));
  server_.Delete("/api/v1/namespaces/shop/pods/b");
  EXPECT_EQ(diary_.Await("( a b c ) +d *a -b"), "( a b c ) +d *a -b");
  EXPECT_EQ(server_.CountRequests("GET", "/api/v1/pods"), 1);
  EXPECT_EQ(watch_->counters().lists, 1u);
  EXPECT_EQ(watch_->counters().events, 3u);
  EXPECT_EQ(watch_->counters().failures, 0u);
}

TEST_F(ObjectWatchTest, BeginsWithTheCacheAndListsPagesFromEtcdAfterwards) {
  options_.page_size = 1;
  Follow();
  EXPECT_EQ(server_.CountRequests("GET", "/api/v1/pods?resourceVersion=0"), 1);
  EXPECT_EQ(server_.CountRequests("GET", "limit="), 0);
  server_.ExpireVersions();
  const std::string want = "( a b ) OUT_OF_RANGE ( a b ) OK";
  EXPECT_EQ(diary_.Await(want), want);
  EXPECT_EQ(server_.CountRequests("GET", "resourceVersion=0"), 1);
  EXPECT_EQ(server_.CountRequests("GET", "limit=1"), 2);
}

TEST_F(ObjectWatchTest, ACacheThatFailsIsDoneWithout) {
  server_.Inject({.method = "GET", .part = "resourceVersion=0", .status = 429});
  Start();
  EXPECT_EQ(diary_.Await("( UNAVAILABLE ( a b ) OK"), "( UNAVAILABLE ( a b ) OK");
  EXPECT_EQ(server_.CountRequests("GET", "limit=500"), 1);
}

TEST_F(ObjectWatchTest, MayBeginWithWhatIsCurrent) {
  options_.begins_current = true;
  Follow();
  // Without a version, and without pages, for which the API server would ask etcd.
  EXPECT_EQ(server_.CountRequests("GET", "/api/v1/pods?resourceVersion=0"), 0);
  EXPECT_EQ(server_.CountRequests("GET", "/api/v1/pods?resourceVersion="), 1);
  EXPECT_EQ(server_.CountRequests("GET", ""), 1);
}

TEST_F(ObjectWatchTest, NamespaceAndSelectorsGoIntoBothCalls) {
  server_.Put(Pod("o", "x", "other"));
  server_.Put(Pod("y", "y"));
  options_.ns = "shop";
  options_.label_selector = "app in (x)";
  options_.field_selector = "metadata.name!=a";
  Start();
  EXPECT_EQ(diary_.Await("( b )"), "( b )");
  ASSERT_TRUE(server_.AwaitWatches(1));
  const std::string query = "&labelSelector=app%20in%20%28x%29&fieldSelector=metadata.name%21%3Da";
  const std::string list = "/api/v1/namespaces/shop/pods?resourceVersion=0";
  EXPECT_EQ(server_.CountRequests("GET", list + query), 1);
  EXPECT_EQ(server_.CountRequests("WATCH", query), 1);
  server_.Put(Pod("n", "x", "other"));
  server_.Put(Pod("y", "x"));
  EXPECT_EQ(diary_.Await("( b ) +y"), "( b ) +y");
}

TEST_F(ObjectWatchTest, BrokenWatchIsToldAndGoesOnWhereItWas) {
  Follow();
  server_.Put(Pod("c"));
  EXPECT_EQ(diary_.Await("( a b ) +c"), "( a b ) +c");
  server_.CutWatches();
  // The new watch is open. What it has missed comes after that.
  EXPECT_EQ(diary_.Await("( a b ) +c UNAVAILABLE OK"), "( a b ) +c UNAVAILABLE OK");
  ASSERT_TRUE(server_.AwaitWatches(1));
  server_.Put(Pod("d"));
  EXPECT_EQ(diary_.Await("( a b ) +c UNAVAILABLE OK +d"), "( a b ) +c UNAVAILABLE OK +d");
  EXPECT_EQ(watch_->counters().lists, 1u);
}

TEST_F(ObjectWatchTest, WatchThatEndsWellIsNoFailure) {
  Follow();
  server_.CutWatches(true);
  ASSERT_TRUE(server_.AwaitRequests("WATCH", "", 2));
  server_.Put(Pod("c"));
  EXPECT_EQ(diary_.Await("( a b ) +c"), "( a b ) +c");
}

TEST_F(ObjectWatchTest, TellsWhenNoStreamIsOpen) {
  Diary diary(/*of_streams=*/true);
  ObjectWatch watch(options_, server_.Connect(), Clock::System(), diary);
  std::string want = "( a b ) open";
  ASSERT_EQ(diary.Await(want), want);
  ASSERT_TRUE(server_.AwaitWatches(1));
  server_.CutWatches(/*well=*/true);
  want += " closed open";
  ASSERT_EQ(diary.Await(want), want);
  server_.Put(Pod("c"));
  want += " +c";
  ASSERT_EQ(diary.Await(want), want);
  server_.CutWatches();
  want += " closed UNAVAILABLE open OK";
  EXPECT_EQ(diary.Await(want), want);
}

TEST_F(ObjectWatchTest, BookmarkIsWhereTheNextWatchBegins) {
  Follow();
  server_.Put(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}})");  // version 4
  server_.SendBookmarks();
  while (watch_->counters().events < 1) std::this_thread::yield();
  server_.CutWatches(true);
  EXPECT_TRUE(server_.AwaitRequests("WATCH", "resourceVersion=4&", 1));
}

TEST_F(ObjectWatchTest, ExpiredVersionIsAFailureUntilThereIsANewList) {
  Follow();
  server_.Delete("/api/v1/namespaces/shop/pods/a");
  server_.ExpireVersions();
  // The deletion may have been told before it was forgotten.
  ASSERT_TRUE(server_.AwaitRequests("WATCH", "", 2));
  std::string text;
  while (!absl::EndsWith(text = diary_.Text(), "OK")) std::this_thread::yield();
  EXPECT_TRUE(text == "( a b ) OUT_OF_RANGE ( b ) OK" || text == "( a b ) -a OUT_OF_RANGE ( b ) OK")
      << text;
  EXPECT_EQ(watch_->counters().failures, 1u);
}

TEST_F(ObjectWatchTest, ListThatBreaksOffIsStartedAnew) {
  server_.Put(Pod("c"));
  options_.page_size = 2;
  DoWithoutTheCache();
  server_.Inject({.method = "GET", .part = "continue="});
  Start();
  const std::string want = "( UNAVAILABLE ( a b UNAVAILABLE ( a b c ) OK";
  EXPECT_EQ(diary_.Await(want), want);
}

TEST_F(ObjectWatchTest, ExpiredPagesAreListedInOnePiece) {
  server_.Put(Pod("c"));
  options_.page_size = 2;
  DoWithoutTheCache();
  server_.Inject({.method = "GET", .part = "continue=", .status = 410, .reason = "Expired"});
  Start();
  const std::string want = "( UNAVAILABLE ( a b ( a b c ) OK";
  EXPECT_EQ(diary_.Await(want), want);
}

// Each list ends with the same token, as where a proxy drops it from the request.
class LoopingServer : public http::HttpTransport {
 public:
  explicit LoopingServer(int expired_status) : expired_status_(expired_status) {}
  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall& call) override {
    const bool more = absl::StrContains(call.target, "continue=");
    if (++calls > 10) return absl::CancelledError("it goes on for ever");
    return http::HttpAnswer{
        .status = more ? expired_status_ : 200,
        .headers = {},
        .body = R"({"metadata":{"resourceVersion":"1","continue":"t"},"items":[]})"};
  }
  absl::Status Stream(const http::HttpCall&,
                      const std::function<bool(absl::string_view)>&) override {
    return absl::UnimplementedError("no streams here");
  }
  void Shutdown() override {}

  int calls = 0;

 private:
  const int expired_status_;
};

TEST(ListPagesTest, PagesThatNeverEndAreAnError) {
  ObjectWatchOptions options;
  options.resource = {.name = {"", "pods"}, .version = "v1", .kind = "Pod", .singular = "pod"};
  ObjectReader reader;
  WatchHandler handler;
  LoopingServer same(200);
  EXPECT_EQ(ListPages(same, options, reader, handler).status(),
            absl::InvalidArgumentError("list /api/v1/pods: the same page comes again and again"));
  EXPECT_EQ(same.calls, 2);
  // Expired also where it should have come in one piece.
  LoopingServer expired(410);
  EXPECT_EQ(ListPages(expired, options, reader, handler).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(expired.calls, 4);
}

struct FailureRow {
  std::string name;
  std::string method;
  int status = 0;
  std::string diary;
};

class ObjectWatchFailureTest : public ObjectWatchTest,
                               public testing::WithParamInterface<FailureRow> {};

TEST_P(ObjectWatchFailureTest, Row) {
  server_.Inject(
      {.method = GetParam().method, .status = GetParam().status, .reason = "R", .message = "why"});
  Start();
  EXPECT_EQ(diary_.Await(GetParam().diary), GetParam().diary);
}

INSTANTIATE_TEST_SUITE_P(
    Statuses, ObjectWatchFailureTest,
    testing::Values(
        FailureRow{"ForbiddenList", "GET", 403, "( PERMISSION_DENIED ( a b ) OK"},
        FailureRow{"NoSuchResource", "GET", 404, "( NOT_FOUND ( a b ) OK"},
        // Not to be taken for too large a list.
        FailureRow{"TooManyRequests", "GET", 429, "( UNAVAILABLE ( a b ) OK"},
        FailureRow{"NoConnection", "GET", 0, "( UNAVAILABLE ( a b ) OK"},
        // What may not be watched is listed again.
        FailureRow{"ForbiddenWatch", "WATCH", 403, "( a b ) PERMISSION_DENIED ( a b ) OK"},
        // Perhaps for its version.
        FailureRow{"BadWatch", "WATCH", 400, "( a b ) INVALID_ARGUMENT ( a b ) OK"},
        FailureRow{"InvalidWatch", "WATCH", 422, "( a b ) FAILED_PRECONDITION ( a b ) OK"},
        FailureRow{"BusyWatch", "WATCH", 429, "( a b ) UNAVAILABLE OK"},
        FailureRow{"ErrorOnWatch", "WATCH", 500, "( a b ) UNAVAILABLE OK"},
        // An answer instead of an event.
        FailureRow{"ExpiredWatch", "WATCH", 410, "( a b ) OUT_OF_RANGE ( a b ) OK"}),
    [](const auto& info) { return info.param.name; });

TEST_F(ObjectWatchTest, StatusSaysWhatFailed) {
  server_.Inject({.method = "GET", .times = 1000, .status = 403, .message = "no"});
  Start();
  ASSERT_TRUE(server_.AwaitRequests("GET", "", 3));
  EXPECT_EQ(diary_.message(), "list /api/v1/pods: no");
}

TEST_F(ObjectWatchTest, SameFailureIsToldOnce) {
  server_.Inject({.method = "WATCH", .times = 3, .status = 500, .message = "no"});
  Start();
  EXPECT_EQ(diary_.Await("( a b ) UNAVAILABLE OK"), "( a b ) UNAVAILABLE OK");
  EXPECT_EQ(watch_->counters().failures, 3u);
}

TEST_F(ObjectWatchTest, HandlerMayRefuse) {
  diary_.RefuseOnce(absl::ResourceExhaustedError("too many"));
  Start();
  EXPECT_EQ(diary_.Await("( a b RESOURCE_EXHAUSTED ( a b ) OK"),
            "( a b RESOURCE_EXHAUSTED ( a b ) OK");
  ASSERT_TRUE(server_.AwaitWatches(1));
  diary_.RefuseOnce(absl::ResourceExhaustedError("too many"));
  server_.Put(Pod("c"));
  const std::string want = "( a b RESOURCE_EXHAUSTED ( a b ) OK +c RESOURCE_EXHAUSTED ( a b c ) OK";
  EXPECT_EQ(diary_.Await(want), want);
}

TEST_F(ObjectWatchTest, DeadServerIsTriedForEver) {
  server_.SetDead(true);
  Start();
  ASSERT_TRUE(server_.AwaitRequests("GET", "", 20));
  server_.SetDead(false);
  ASSERT_TRUE(server_.AwaitWatches(1));
  while (!absl::EndsWith(diary_.Text(), "( a b ) OK")) std::this_thread::yield();
}

constexpr char kEmptyList[] = R"({"metadata":{"resourceVersion":"1"},"items":[]})";

bool IsList(const http::HttpCall& call) { return !absl::StrContains(call.target, "watch=1"); }

absl::Status StreamEmptyList(const std::function<bool(absl::string_view)>& on_data) {
  if (on_data("")) on_data(kEmptyList);
  return absl::OkStatus();
}

// Streams of fixed pieces, which no API server would send.
class OddServer : public http::HttpTransport {
 public:
  OddServer(std::vector<std::string> pieces, std::optional<absl::Status> end)
      : pieces_(std::move(pieces)), end_(std::move(end)) {}
  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall&) override {
    http::HttpAnswer answer;
    answer.status = 200;
    answer.body = kEmptyList;
    return answer;
  }
  absl::Status Stream(const http::HttpCall& call,
                      const std::function<bool(absl::string_view)>& on_data) override {
    if (IsList(call)) return StreamEmptyList(on_data);
    for (const std::string& piece : std::exchange(pieces_, {})) {
      if (!on_data(piece)) return absl::OkStatus();
    }
    if (end_.has_value()) return *std::exchange(end_, std::nullopt);
    on_data("");
    on_data("{\"type\":\"ADDED\",\"object\":" + Pod("later") + "}\n");
    shut_.WaitForNotification();
    return absl::CancelledError("");
  }
  void Shutdown() override { shut_.Notify(); }

 private:
  std::vector<std::string> pieces_;  // of the first stream; later ones bring the pod "later"
  std::optional<absl::Status> end_;  // of the first; not set: it goes on as the later ones
  absl::Notification shut_;
};

// Opens streams and ends them at once, without a word; after `flaps` of them it is well again.
class FlappingServer : public http::HttpTransport {
 public:
  FlappingServer(int flaps, bool then_silent) : flaps_(flaps), then_silent_(then_silent) {}
  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall&) override {
    http::HttpAnswer answer;
    answer.status = 200;
    answer.body = kEmptyList;
    return answer;
  }
  absl::Status Stream(const http::HttpCall& call,
                      const std::function<bool(absl::string_view)>& on_data) override {
    if (IsList(call)) return StreamEmptyList(on_data);
    on_data("");
    if (flaps_-- > 0) return absl::OkStatus();
    if (!then_silent_) on_data("{\"type\":\"ADDED\",\"object\":" + Pod("later") + "}\n");
    if (shut_.WaitForNotificationWithTimeout(call.timeout)) return absl::CancelledError("");
    return absl::DeadlineExceededError("quiet");
  }
  void Shutdown() override { shut_.Notify(); }

 private:
  int flaps_;
  const bool then_silent_;
  absl::Notification shut_;
};

struct FlapRow {
  std::string name;
  int flaps = 0;
  bool then_silent = false;
  std::string diary;
};

class FlappingWatchTest : public testing::TestWithParam<FlapRow> {};

TEST_P(FlappingWatchTest, Row) {
  ObjectWatchOptions options;
  options.resource = {.name = {"", "pods"}, .version = "v1", .kind = "Pod", .singular = "pod"};
  options.first_backoff = options.max_backoff = absl::Milliseconds(1);
  options.long_stream = GetParam().then_silent ? absl::Milliseconds(200) : absl::Hours(1);
  Diary diary;
  ObjectWatch watch(options,
                    std::make_unique<FlappingServer>(GetParam().flaps, GetParam().then_silent),
                    Clock::System(), diary);
  EXPECT_EQ(diary.Await(GetParam().diary), GetParam().diary);
}

INSTANTIATE_TEST_SUITE_P(
    Flaps, FlappingWatchTest,
    testing::Values(FlapRow{"OnceIsNothing", 1, false, "( ) +later"},
                    FlapRow{"AgainIsAFailure", 5, false, "( ) UNAVAILABLE +later OK"},
                    FlapRow{"AStreamThatLastsEndsIt", 5, true, "( ) UNAVAILABLE OK"}),
    [](const auto& info) { return info.param.name; });

// Nobody waits: a wait is over at once, and its time has passed then.
class HurriedClock : public Clock {
 public:
  absl::Time WallNow() const override { return absl::UnixEpoch() + MonotonicNow(); }
  MonotonicTime MonotonicNow() const override { return absl::Milliseconds(passed_ms_.load()); }
  bool Await(absl::Mutex& mutex, const absl::Condition& condition, MonotonicTime deadline) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    mutex.AssertHeld();
    if (condition.Eval()) return true;
    Pass(deadline - MonotonicNow());
    return false;
  }
  void Pass(absl::Duration time) { passed_ms_ += absl::ToInt64Milliseconds(time); }

 private:
  std::atomic<int64_t> passed_ms_ = 0;
};

// Says yes to each watch, and what comes then is up to the test.
class StreamingServer : public http::HttpTransport {
 public:
  using OnStream = std::function<absl::Status(const http::HttpCall&,
                                              const std::function<bool(absl::string_view)>&)>;
  StreamingServer(std::function<void()> on_list, OnStream on_stream)
      : on_list_(std::move(on_list)), on_stream_(std::move(on_stream)) {}
  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall&) override {
    on_list_();
    return http::HttpAnswer{.status = 200, .headers = {}, .body = kEmptyList};
  }
  absl::Status Stream(const http::HttpCall& call,
                      const std::function<bool(absl::string_view)>& on_data) override {
    if (IsList(call)) {
      on_list_();
      return StreamEmptyList(on_data);
    }
    if (!on_data("")) return absl::OkStatus();
    return on_stream_(call, on_data);
  }
  void Shutdown() override {}

 private:
  const std::function<void()> on_list_;
  const OnStream on_stream_;
};

ObjectWatchOptions OfPods() {
  ObjectWatchOptions options;
  options.resource = {.name = {"", "pods"}, .version = "v1", .kind = "Pod", .singular = "pod"};
  return options;
}

// Each is a full list for the API server.
TEST(ObjectWatchPauses, StreamsThatBringNothingButAnErrorAreListedAnewMoreAndMoreSeldom) {
  HurriedClock clock;
  std::atomic<int> lists = 0;
  absl::Notification later;
  Diary diary;
  ObjectWatch watch(OfPods(),
                    std::make_unique<StreamingServer>(
                        [&] {
                          if (clock.MonotonicNow() < absl::Minutes(2)) {
                            ++lists;
                          } else if (!later.HasBeenNotified()) {
                            later.Notify();
                          }
                        },
                        [](const http::HttpCall&, const auto& on_data) {
                          on_data(R"({"type":"ERROR","object":{"code":410,"message":"gone"}})"
                                  "\n");
                          return absl::OkStatus();
                        }),
                    clock, diary);
  ASSERT_TRUE(later.WaitForNotificationWithTimeout(absl::Seconds(30)));
  EXPECT_GE(lists, 5);
  EXPECT_LE(lists, 9);
}

// Each costs the API server a connection.
TEST(ObjectWatchPauses, StreamsThatEndAfterABookmarkAreNotOpenedWithoutARest) {
  HurriedClock clock;
  std::atomic<int> streams = 0;
  absl::Notification enough, end;
  Diary diary;
  {
    ObjectWatch watch(OfPods(),
                      std::make_unique<StreamingServer>(
                          [] {},
                          [&](const http::HttpCall&, const auto& on_data) {
                            on_data(R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":)"
                                    R"({"resourceVersion":"1"}}})"
                                    "\n");
                            const int nth = ++streams;
                            if (nth < 60) return absl::OkStatus();
                            if (nth == 60) enough.Notify();
                            end.WaitForNotification();
                            return absl::CancelledError("");
                          }),
                      clock, diary);
    EXPECT_TRUE(enough.WaitForNotificationWithTimeout(absl::Seconds(30)));
    EXPECT_GE(clock.MonotonicNow(), absl::Seconds(30));
    EXPECT_EQ(watch.counters().failures, 0u);
    EXPECT_EQ(watch.counters().lists, 1u);
    end.Notify();
  }
}

// After a restore of etcd to an earlier state no event and no bookmark comes for the later version.
TEST(ObjectWatchPauses, AStreamThatWasSilentAllItsLifeIsListedAnew) {
  HurriedClock clock;
  int streams = 0;
  absl::Notification listed_again, end;
  std::atomic<int> lists = 0;
  Diary diary;
  {
    ObjectWatch watch(OfPods(),
                      std::make_unique<StreamingServer>(
                          [&] {
                            if (++lists == 2) listed_again.Notify();
                          },
                          [&](const http::HttpCall& call, const auto& on_data) {
                            if (++streams == 1) {
                              on_data(R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":)"
                                      R"({"resourceVersion":"2"}}})"
                                      "\n");
                            } else if (streams > 2) {
                              end.WaitForNotification();
                              return absl::CancelledError("");
                            }
                            clock.Pass(call.timeout);
                            return absl::DeadlineExceededError("nothing came");
                          }),
                      clock, diary);
    EXPECT_TRUE(listed_again.WaitForNotificationWithTimeout(absl::Seconds(30)));
    EXPECT_EQ(diary.Await("( ) ( )"), "( ) ( )");
    while (watch.counters().watches < 3) std::this_thread::yield();
    EXPECT_EQ(watch.counters().failures, 0u);
    end.Notify();
  }
}

// A quiet resource has neither events nor bookmarks, and costs no list each time.
TEST(ObjectWatchPauses, ASilentStreamIsOpenedAgainWhereTheServerWasNotSetBack) {
  HurriedClock clock;
  int streams = 0;
  absl::Notification end;
  Diary diary;
  ObjectWatch watch(
      OfPods(),
      std::make_unique<StreamingServer>([] {},
                                        [&](const http::HttpCall& call, const auto&) {
                                          if (++streams > 5) {
                                            end.WaitForNotification();
                                            return absl::CancelledError("");
                                          }
                                          clock.Pass(call.timeout);
                                          return absl::DeadlineExceededError("nothing came");
                                        }),
      clock, diary);
  while (watch.counters().watches < 6) std::this_thread::yield();
  EXPECT_EQ(watch.counters().lists, 1u);
  end.Notify();
}

std::string Bookmark(absl::string_view version) {
  return absl::StrCat(R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":)"
                      R"({"resourceVersion":")",
                      version, "\"}}}\n");
}

// The first stream brings `data` and ends with `status`. What later ones bring is `data`, too, if
// `again`; they stay open until the test ends.
class SetBackTest : public testing::Test {
 protected:
  std::string Watch(const std::string& data, absl::Status status, bool again,
                    absl::string_view want) {
    HurriedClock clock;
    absl::Notification end;
    int streams = 0;
    Diary diary;
    std::string got;
    {
      ObjectWatch watch(
          OfPods(),
          std::make_unique<StreamingServer>([] {},
                                            [&](const http::HttpCall&, const auto& on_data) {
                                              const bool first = ++streams == 1;
                                              if ((first || again) && !on_data(data))
                                                return absl::OkStatus();
                                              if (first) return status;
                                              end.WaitForNotification();
                                              return absl::CancelledError("");
                                            }),
          clock, diary);
      got = diary.Await(want);
      end.Notify();
    }
    return got;
  }
};

// The list is of version 1.
TEST_F(SetBackTest, AServerThatComesBackWithAnEarlierVersionIsListedAnew) {
  const std::string want = "( ) UNAVAILABLE ( ) OK";
  EXPECT_EQ(Watch(Bookmark("2"), absl::UnavailableError("broken"), false, want), want);
}

TEST_F(SetBackTest, ABookmarkOfAnEarlierVersionIsANewList) {
  const std::string want = "( ) OUT_OF_RANGE ( ) OK";
  EXPECT_EQ(Watch(Bookmark("5") + Bookmark("3"), absl::OkStatus(), false, want), want);
}

TEST_F(SetBackTest, VersionsWithoutOrderAreListedAnewOnce) {
  const std::string added =
      R"({"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod","metadata":)"
      R"({"name":"a","namespace":"shop","resourceVersion":"0"}}})"
      "\n";
  const std::string want = "( ) OUT_OF_RANGE ( ) OK +a";
  EXPECT_EQ(Watch(added, absl::OkStatus(), true, want), want);
}

struct StreamRow {
  std::string name;
  std::vector<std::string> pieces;
  std::string diary;
  std::optional<absl::Status> end = std::nullopt;
};

class ObjectWatchStreamTest : public testing::TestWithParam<StreamRow> {};

TEST_P(ObjectWatchStreamTest, Row) {
  ObjectWatchOptions options;
  options.resource = {.name = {"", "pods"}, .version = "v1", .kind = "Pod", .singular = "pod"};
  options.first_backoff = options.max_backoff = absl::Milliseconds(1);
  Diary diary;
  ObjectWatch watch(options, std::make_unique<OddServer>(GetParam().pieces, GetParam().end),
                    Clock::System(), diary);
  EXPECT_EQ(diary.Await(GetParam().diary), GetParam().diary);
}

std::string Added(absl::string_view name) {
  return absl::StrCat(R"({"type":"ADDED","object":)", Pod(name), "}\n");
}

INSTANTIATE_TEST_SUITE_P(
    Pieces, ObjectWatchStreamTest,
    testing::Values(StreamRow{"LinesMayBeCutAnywhere",
                              {Added("a").substr(0, 1), Added("a").substr(1, 30),
                               Added("a").substr(31) + Added("b") + "\n" + Added("c").substr(0, 5),
                               Added("c").substr(5)},
                              "( ) +a +b +c +later"},
                    StreamRow{"UnreadableEventIsANewList",
                              {Added("a") + "{]\n" + Added("b")},
                              "( ) +a OUT_OF_RANGE ( ) OK +later"},
                    StreamRow{"ErrorEventIsANewList",
                              {R"({"type":"ERROR","object":{"code":500,"message":"x"}})"
                               "\n"},
                              "( ) OUT_OF_RANGE ( ) OK +later"},
                    StreamRow{"SilenceOfAnOpenStreamIsNoFailure",
                              {""},
                              "( ) +later",
                              absl::DeadlineExceededError("nothing came")},
                    StreamRow{"SilenceBeforeTheHeadIsOne",
                              {},
                              "( ) DEADLINE_EXCEEDED OK +later",
                              absl::DeadlineExceededError("nothing came")},
                    StreamRow{"EndRightAfterTheHeadIsNone", {""}, "( ) +later", absl::OkStatus()}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace flyball::kube
