// The requested forms of one document, such as YAML, indented or compressed JSON.
//
// Thread-safe. No two documents' forms are made at once: YAML of thousands of metrics takes tens of
// megabytes while it is made. Only compact JSON, for which controllers and kubectl ask, does not
// wait for other forms when it is compressed. A form is made once and kept, as long as all forms
// other than compressed compact JSON take no more than kMaxKeptBytes. One that is not kept is made
// anew unless an answer with it is still being sent. Also made anew is one that could not be made.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/cleanup/cleanup.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "apiservice/requests/render.h"
#include "base/byte_budget.h"
#include "http/server/event_workers.h"

namespace flyball::apiservice {

class DocumentForms {
 public:
  using Body = std::shared_ptr<const std::string>;

  static constexpr size_t kMaxKeptBytes = 6 << 20;
  // So that those who ask for forms that are made anew each time do not use up all requests that
  // may be under way.
  static constexpr int kMaxWaiting = 64;

  // What the forms of all documents share.
  struct Shared {
    absl::Mutex making;       // held while a form is made
    absl::Mutex compressing;  // held while compact JSON is compressed
    // Requests that make a form other than compact JSON, or wait for their turn.
    std::atomic<int> waiting{0};
    ByteBudget kept{kMaxKeptBytes};
  };

  explicit DocumentForms(Shared& shared) : shared_(shared) {}  // which outlives this
  ~DocumentForms() { shared_.kept.Give(counted_); }
  DocumentForms(const DocumentForms&) = delete;
  DocumentForms& operator=(const DocumentForms&) = delete;

  // The form that `style` asks for if it is there, else nullptr. `compressed`: with gzip.
  Body Made(const Style& style, bool compressed) const {
    const absl::MutexLock lock(&mutex_);
    const auto made = made_.find(FormOf(style, compressed));
    return made == made_.end() ? nullptr : made->second.body.lock();
  }

  // The same, made by `make` if it is not there. Empty: it could not be made. nullptr: too many
  // wait.
  Body Get(const Style& style, bool compressed, const std::function<std::string()>& make) {
    if (Body made = Made(style, compressed)) return made;
    const bool usual = style.IsCompactJson();
    const absl::Cleanup end = [this, usual] {
      if (!usual) --shared_.waiting;
    };
    if (!usual && ++shared_.waiting > kMaxWaiting) return nullptr;
    const http::EventWorkers::Waiting waiting;  // so that probes are answered meanwhile
    const absl::MutexLock turn(usual ? &shared_.compressing : &shared_.making);
    if (Body made = Made(style, compressed)) return made;  // by the one whose turn was before
    Body body = std::make_shared<const std::string>(make());
    if (body->empty()) return body;
    const absl::MutexLock lock(&mutex_);
    const bool counted = !usual && shared_.kept.Take(body->size());
    if (counted) counted_ += body->size();
    made_[FormOf(style, compressed)] = {body, usual || counted ? body : nullptr};
    return body;
  }

 private:
  using Form = std::tuple<Encoding, bool, bool>;  // pretty; compressed
  struct MadeForm {
    std::weak_ptr<const std::string> body;
    Body kept;  // nullptr: it is not
  };

  static Form FormOf(const Style& style, bool compressed) {
    // Only JSON looks different when it is indented.
    const bool pretty = style.pretty && style.media.encoding == Encoding::kJson;
    return {style.media.encoding, pretty, compressed};
  }

  Shared& shared_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<Form, MadeForm> made_ ABSL_GUARDED_BY(mutex_);
  size_t counted_ ABSL_GUARDED_BY(mutex_) = 0;  // bytes
};

}  // namespace flyball::apiservice
