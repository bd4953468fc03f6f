// Fills the store with past samples that Prometheus has of the series that are kept. They are
// fetched after a start (and after a reload that keeps more), so that windows are complete within
// seconds.
//
// Thread-safe. One thread, from Start to Stop, does all the asking; nothing waits for it. Selectors
// are asked for in pieces of kPiece, the newest pieces of all of them first, each as an instant
// query with a range selector. A piece that fails is asked for again at half its length, down to
// kLeastPiece. So the size of an answer is limited by its piece (and by the source's limit on
// answers), and the store's limits hold. Pieces that have not come by `warmup` after the beginning
// are dropped: from then on queries are answered, and samples that were not checked would count.
//
// It is not certain that a series has the same labels in Prometheus as here; if not, it would count
// twice. So once each target should have been scraped (`warmup` after the beginning), the past
// series are compared with the present ones:
//
//   - A past series without a sample since then has ended: it gets a staleness marker. But one with
//     rarer samples, such as pushes each minute, may still continue: until it has missed two of
//     them, nothing is decided about it or the selector, and the comparison is repeated. If none of
//     the past series continues and others are new, none is waited for.
//   - If some series have ended and others are new, these may be the same ones, so the selector
//     stays unknown until its window is complete without the past.
//   - Otherwise the past samples count, from the oldest of them on.
//   - If the clock was set meanwhile, past and present cannot be compared, and nothing is changed.
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
  static constexpr absl::Duration kTimeout = absl::Seconds(10);  // for one answer
  // How old the newest past sample may be; few targets are scraped less often.
  static constexpr absl::Duration kNewestAge = absl::Seconds(70);
  static constexpr absl::Duration kClockStep = absl::Seconds(1);  // less is no step
  static constexpr absl::Duration kLookAgain = absl::Seconds(1);  // or the warmup, if longer

  // Series that are kept, and since when.
  struct Kept {
    live::Selector selector;
    int64_t since_ms = 0;
  };

  struct Deps {  // all outlive it
    live::Store& store;
    PastSamples& past;
    Clock& clock;
    // Whether each series should have arrived; until then nothing is compared.
    std::function<bool()> warmed_up;
    // Called by the thread when all samples of these series since `known_since_ms` are in the
    // store. To be ignored if the series are now kept since another time than Kept::since_ms.
    std::function<void(const Kept&, int64_t known_since_ms)> known;
  };

  WarmStart(Deps deps, absl::Duration retention, absl::Duration warmup);

  // Asks for past samples of these, up to now. Selectors that match any series are left out.
  void Add(std::vector<Kept> kept);

  void Start() { thread_.Start(); }
  // Waits for a request under way.
  void Stop() { thread_.Stop(); }

  // Fetches a piece, or compares past and present series. Returns when to call it again. Called by
  // the thread, or by tests that do not start it.
  RepeatingThread::Next Step();

 private:
  struct Wanted {
    Kept kept;
    MonotonicTime look;     // when past and present series are compared
    absl::Time clock_zero;  // the wall time at which the monotonic clock was 0
    int64_t begin_ms = 0;   // later samples are not of the past
    int64_t next_ms = 0;    // the end of the next piece
    absl::Duration piece = kPiece;
    int64_t oldest_ms = 0, newest_ms = 0;  // of the past samples
    size_t samples = 0;
    bool whole = true;  // false: the store had no room for some series
    bool fetched = false;
  };

  void FetchPiece(Wanted& wanted, absl::Duration timeout);
  absl::Time ClockZero() const { return deps_.clock.WallNow() - deps_.clock.MonotonicNow(); }
  // Puts the samples into the store. False: it has no room for all of them.
  bool Keep(std::vector<PastSeries> past, Wanted& wanted);
  // Compares. False: to be called again later, since series may still continue.
  bool Look(const Wanted& wanted);

  const Deps deps_;
  const absl::Duration retention_, warmup_;
  absl::Mutex mutex_;
  std::deque<Wanted> added_ ABSL_GUARDED_BY(mutex_);  // not yet taken by the thread
  std::deque<Wanted> wanted_;                         // used only by the thread
  RepeatingThread thread_;                            // last: it uses the others
};

}  // namespace flyball::adapter
