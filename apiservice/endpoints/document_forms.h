// The requested forms of one document, such as YAML, indented or compressed JSON.
//
// Thread-safe. Each form is made once, however many clients ask for it at the same time, and no two
// documents' forms at once: YAML of thousands of metrics takes tens of megabytes while it is made.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <tuple>

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

  // The form that `style` asks for, made by `make` unless it is there already. Others who ask for
  // any form wait meanwhile. `compressed`: by gzip.
  Body Get(const Style& style, bool compressed, const std::function<std::string()>& make) {
    const http::EventWorkers::Waiting waiting;  // so that probes are answered meanwhile
    const absl::MutexLock lock(&making_);
    Body& body = made_[{style.media.encoding, style.pretty, compressed}];
    if (body == nullptr) body = std::make_shared<const std::string>(make());
    return body;
  }

 private:
  absl::Mutex& making_;
  absl::flat_hash_map<std::tuple<Encoding, bool, bool>, Body> made_ ABSL_GUARDED_BY(making_);
};

}  // namespace flyball::apiservice
