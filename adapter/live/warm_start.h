// Gives the store a past: the samples that Prometheus has of the series that are kept, fetched
// after a start (and after a reload that keeps more), so that windows are whole within seconds.
//
// Thread-safe. One thread, from Start to Stop, that alone asks; nobody waits for it. Selectors are
// asked for in pieces of kPiece, the newest pieces of all of them first, each an instant query
// with a range selector. A piece that fails is asked for again at half its length, down to
// kLeastPiece. So an answer is as large as its piece (and the source's limit on answers), and the
// store's limits hold. What has not come by `warmup` after the beginning does not: from then on
// queries are answered, and what is not looked at yet would count.
//
// Nobody promises that Prometheus gives a series the labels that it gets here. Series of other
// labels would count beside those that they are. So it is looked at once each target should have
// been seen (`warmup` after the beginning) how the past goes on:
//
//   - A series of the past without a sample since is over: it gets a staleness marker.
//   - Where some series are over and others are new, they may well be the same ones, and the
//     selector stays unknown until its window is whole without a past.
//   - Else the samples of before are known, since the oldest of them.
//   - A clock that was set meanwhile makes a past that nobody can compare: it is left as it is.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "adapter/live/store/store.h"
#include "adapter/queries/past_samples.h"
#include "base/clock.h"
#include "base/repeating_thread.h"

namespace flyball::adapter {

class WarmStart {
 public:
  static constexpr absl::Duration kPiece = absl::Minutes(2);
  static constexpr absl::Duration kLeastPiece = absl::Seconds(15);
  static constexpr absl::Duration kTimeout = absl::Seconds(10);  // of one answer
  // How old the newest sample of the past may be: as old as Prometheus scrapes seldom.
  static constexpr absl::Duration kNewestAge = absl::Seconds(70);
  static constexpr absl::Duration kClockStep = absl::Seconds(1);  // less is no step

  // Series that are kept since then, as whoever keeps them says.
  struct Kept {
    live::Selector selector;
    int64_t since_ms = 0;
  };

  struct Deps {  // all outlive it
    live::Store& store;
    PastSamples& past;
    Clock& clock;
    // All samples since then of these series are in the store, as it keeps them since `since_ms`;
    // if it does so since another time by now, this is no news. Called by the thread.
    std::function<void(const Kept&, int64_t known_since_ms)> known;
  };

  WarmStart(Deps deps, absl::Duration retention, absl::Duration warmup);

  // The past of these is wanted, up to now. Those that match any series are left out.
  void Add(std::vector<Kept> kept);

  void Start() { thread_.Start(); }
  // Waits for the answer under way.
  void Stop() { thread_.Stop(); }

  // Fetches a piece, or looks. When it wants to be called again. Called by the thread; by tests
  // that start none.
  RepeatingThread::Next Step();

 private:
  struct Wanted {
    Kept kept;
    MonotonicTime look;     // when it is looked at how the past goes on
    absl::Time clock_zero;  // the wall time at which the monotonic clock was 0
    int64_t begin_ms = 0;   // samples after it are none of the past
    int64_t next_ms = 0;    // where the next piece ends
    absl::Duration piece = kPiece;
    int64_t oldest_ms = 0, newest_ms = 0;  // of the samples of the past
    size_t samples = 0;
    bool whole = true;  // false: the store had no room for some series
    bool fetched = false;
  };

  void FetchPiece(Wanted& wanted, absl::Duration timeout);
  absl::Time ClockZero() const { return deps_.clock.WallNow() - deps_.clock.MonotonicNow(); }
  // Whether the store has room for all of it.
  bool Keep(std::vector<PastSeries> past, Wanted& wanted);
  void Look(const Wanted& wanted);

  const Deps deps_;
  const absl::Duration retention_, warmup_;
  absl::Mutex mutex_;
  std::deque<Wanted> added_ ABSL_GUARDED_BY(mutex_);  // that the thread has not taken yet
  std::deque<Wanted> wanted_;                         // the thread's own
  RepeatingThread thread_;                            // last: it uses the others
};

}  // namespace flyball::adapter
