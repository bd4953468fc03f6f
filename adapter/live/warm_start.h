// Fills the store with past samples: those that Prometheus has of the series that are kept. They
// are fetched after a start (and after a reload that keeps more), so that windows are whole within
// seconds.
//
// Thread-safe. One thread, from Start to Stop, does all the asking; nothing waits for it. Selectors
// are asked for in pieces of kPiece, the newest pieces of all of them first, each as an instant
// query with a range selector. A piece that fails is asked for again at half its length, down to
// kLeastPiece. So the size of an answer is limited by its piece (and by the source's limit on
// answers), and the store's limits hold. Pieces that have not come by `warmup` after the beginning
// are dropped: from then on queries are answered, and samples that were not checked would count.
//
// It is not certain that a series has the same labels in Prometheus as here. If not, it would count
// twice. So it is checked how the past goes on, once each target should have been seen (`warmup`
// after the beginning):
//
//   - A past series without a sample since then has ended: it gets a staleness marker. But one that
//     comes less often than that, as pushes do each minute, may still go on: while it has missed
//     less than two samples nothing is decided of it or of the selector, and it is looked at again.
//     If none of the past series goes on and others are new, none is waited for.
//   - If some series have ended and others are new, these may be the same ones, so the selector
//     stays unknown until its window is whole without the past.
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
  static constexpr absl::Duration kTimeout = absl::Seconds(10);  // of one answer
  // How old the newest past sample may be; few targets are scraped less often.
  static constexpr absl::Duration kNewestAge = absl::Seconds(70);
  static constexpr absl::Duration kClockStep = absl::Seconds(1);  // less is no step
  static constexpr absl::Duration kLookAgain = absl::Seconds(1);  // or the warmup, if longer

  // Series that are kept since then, as whoever keeps them says.
  struct Kept {
    live::Selector selector;
    int64_t since_ms = 0;
  };

  struct Deps {  // all outlive it
    live::Store& store;
    PastSamples& past;
    Clock& clock;
    // Whether each series should have been seen; until then nothing is compared.
    std::function<bool()> warmed_up;
    // Called by the thread when all samples of these series since `known_since_ms` are in the
    // store. To be ignored if the series are kept since another time than Kept::since_ms by now.
    std::function<void(const Kept&, int64_t known_since_ms)> known;
  };

  WarmStart(Deps deps, absl::Duration retention, absl::Duration warmup);

  // Asks for the past of these, up to now. Selectors that match any series are left out.
  void Add(std::vector<Kept> kept);

  void Start() { thread_.Start(); }
  // Waits for the answer under way.
  void Stop() { thread_.Stop(); }

  // Fetches a piece, or checks how a past goes on. Returns when to call it again. Called by the
  // thread, or by tests that do not start it.
  RepeatingThread::Next Step();

 private:
  struct Wanted {
    Kept kept;
    MonotonicTime look;     // when it is checked how the past goes on
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
  // False: it is to be called again later, as series may still go on.
  bool Look(const Wanted& wanted);

  const Deps deps_;
  const absl::Duration retention_, warmup_;
  absl::Mutex mutex_;
  std::deque<Wanted> added_ ABSL_GUARDED_BY(mutex_);  // that the thread has not taken yet
  std::deque<Wanted> wanted_;                         // the thread's own
  RepeatingThread thread_;                            // last: it uses the others
};

}  // namespace flyball::adapter
