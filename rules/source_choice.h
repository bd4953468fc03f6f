// Which metric source a rule wants to be answered by, where the server has two.
#pragma once

namespace flyball::rules {

enum class SourceChoice { kAny, kLive, kPrometheus };

}  // namespace flyball::rules
