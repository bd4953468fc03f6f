// Reads all objects of a resource once.
//
// Only one object is in memory at a time, and there is no limit for all of them: whoever may create
// objects could otherwise keep this process from knowing those of others.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "http/client/transport.h"
#include "kube/watch/object_watch.h"

namespace flyball::serve {

// Errors are those of kube::ListWhole; `use` may have had some of the objects then.
absl::Status ForEachObject(http::HttpTransport& server, kube::ObjectWatchOptions options,
                           absl::FunctionRef<void(absl::string_view json)> use);

}  // namespace flyball::serve
