// Which metric source a rule wants its answers from, if the server has two.
#pragma once

namespace flyball::rules {

enum class SourceChoice { kAny, kLive, kPrometheus };

}  // namespace flyball::rules
