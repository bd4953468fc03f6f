// The requested forms of one document, such as YAML, indented or compressed JSON.
//
// Thread-safe. Each form is made once, however many clients ask for it at the same time, and no two
// documents' forms at once: YAML of thousands of metrics takes tens of megabytes while it is made.
// A form that was made before is returned at once. An empty one could not be made: it is not kept.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "apiservice/requests/render.h"
#include "http/server/event_workers.h"

namespace flyball::apiservice {

class DocumentForms {
 public:
  using Body = std::shared_ptr<const std::string>;

  // `making` is held while a form is made. It is that of all documents, and outlives this.
  explicit DocumentForms(absl::Mutex& making) : making_(making) {}

  // The form that `style` asks for, made by `make` unless it was made before. `compressed`: with
  // gzip.
  Body Get(const Style& style, bool compressed, const std::function<std::string()>& make) {
    const Form form = {style.media.encoding, style.pretty, compressed};
    if (Body made = Made(form)) return made;
    const http::EventWorkers::Waiting waiting;  // so that probes are answered meanwhile
    const absl::MutexLock turn(&making_);
    if (Body made = Made(form)) return made;  // by the one whose turn was before
    Body body = std::make_shared<const std::string>(make());
    if (body->empty()) return body;
    const absl::MutexLock lock(&mutex_);
    return made_[form] = std::move(body);
  }

 private:
  using Form = std::tuple<Encoding, bool, bool>;  // pretty; compressed

  Body Made(const Form& form) {
    const absl::MutexLock lock(&mutex_);
    const auto made = made_.find(form);
    return made == made_.end() ? nullptr : made->second;
  }

  absl::Mutex& making_;
  absl::Mutex mutex_;
  absl::flat_hash_map<Form, Body> made_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::apiservice
