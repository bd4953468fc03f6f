#include "kube/local/local_api.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/go/url.h"

namespace flyball::kube {

using nlohmann::json;

namespace {

constexpr absl::string_view kPageToken = "page/";
constexpr size_t kMostPages = 100;  // lists that nobody reads to their end

http::HttpAnswer NoSuchPath() {
  http::HttpAnswer answer;
  answer.status = 404;
  answer.headers = {{"Content-Type", "text/plain"}};
  answer.body = "404 page not found\n";
  return answer;
}

bool Selects(const LocalApi::Watch& watch, const LocalObjectStore::Object& object) {
  return object != nullptr &&
         IsSelected(*object, watch.query["labelSelector"], watch.query["fieldSelector"]);
}

}  // namespace

LocalApi::Watch::Watch(const http::HttpCall& call)
    : query(call.target), metadata_only(WantsMetadata(call)) {}

http::HttpAnswer LocalApi::Serve(const http::HttpCall& call) {
  const LocalQuery query(call.target);
  if (query.path == "/api" || query.path == "/apis") {
    return AsHttp({200, LocalDiscovery(store_.kinds(), query.path == "/api")});
  }
  LocalTarget target = store_.Find(query.path);
  target.name = go::Unescape(target.name, false);
  if (target.kind == nullptr) return NoSuchPath();
  if (call.method == "GET") {
    return AsHttp(target.name.empty() ? List(call, query, target) : store_.Get(target));
  }
  if (call.method == "DELETE" && !target.name.empty()) return AsHttp(store_.Delete(target));
  const json body = json::parse(call.body, nullptr, false);
  if (!body.is_object()) {
    return AsHttp(LocalFailure(400, "BadRequest", "the body is no JSON object"));
  }
  return AsHttp(Write(call, target, body));
}

LocalAnswer LocalApi::Write(const http::HttpCall& call, const LocalTarget& target,
                            const json& body) {
  const bool collection = target.name.empty();
  if (call.method == "POST" && collection) return store_.Create(target, body);
  if (call.method == "PUT" && !collection) return store_.Update(target, body);
  if (call.method == "PATCH" && !collection) {
    if (call.content_type == "application/merge-patch+json") return store_.MergePatch(target, body);
    return LocalFailure(415, "UnsupportedMediaType", "only merge patches are known here");
  }
  return LocalFailure(405, "MethodNotAllowed",
                      "the server does not allow this method on the requested resource");
}

bool LocalApi::RestOfPages(const std::string& token, Objects& left) {
  uint64_t page = 0;
  if (!absl::SimpleAtoi(absl::StripPrefix(token, kPageToken), &page)) return false;
  const auto found = pages_.find(page);
  if (found == pages_.end()) return false;
  left = std::move(found->second);
  pages_.erase(found);
  return true;
}

LocalAnswer LocalApi::List(const http::HttpCall& call, const LocalQuery& query,
                           const LocalTarget& target) {
  Objects left;
  if (const std::string token = query["continue"]; !token.empty()) {
    if (!RestOfPages(token, left)) {
      return LocalFailure(410, "Expired",
                          "The provided continue parameter is too old to display a consistent "
                          "list result.");
    }
  } else {
    for (LocalObjectStore::Object& object : store_.List(target)) {
      if (IsSelected(*object, query["labelSelector"], query["fieldSelector"])) {
        left.push_back(std::move(object));
      }
    }
  }
  size_t limit = 0;
  if (!absl::SimpleAtoi(query["limit"], &limit) || limit == 0) limit = left.size();
  json items = json::array();
  const bool metadata_only = WantsMetadata(call);
  for (; limit > 0 && !left.empty(); --limit) {
    json shown = Shown(*left.front(), metadata_only);
    if (!metadata_only && !target.kind->custom) {  // as the real one leaves them out
      shown.erase("kind");
      shown.erase("apiVersion");
    }
    items.push_back(std::move(shown));
    left.pop_front();
  }
  json metadata = {{"resourceVersion", absl::StrCat(store_.version())}};
  if (!left.empty()) {
    metadata["continue"] = absl::StrCat(kPageToken, ++next_page_);
    pages_[next_page_] = std::move(left);
    if (pages_.size() > kMostPages) pages_.erase(pages_.begin());
  }
  return {200,
          {{"kind", target.kind->info.kind + "List"},
           {"apiVersion", target.kind->ApiVersion()},
           {"metadata", metadata},
           {"items", items}}};
}

bool LocalApi::Open(Watch& watch, std::string& text) const {
  watch.target = store_.Find(watch.query.path);
  if (watch.target.kind == nullptr || !watch.target.kind->info.watchable) return false;
  const std::string from = watch.query["resourceVersion"];
  if (absl::SimpleAtoi(from, &watch.version) && watch.version > 0) return true;
  for (const LocalObjectStore::Object& object : store_.List(watch.target)) {
    if (Selects(watch, object)) text += EventLine("ADDED", Shown(*object, watch.metadata_only));
  }
  watch.version = store_.version();
  return true;
}

std::string LocalApi::News(Watch& watch, bool& expired) const {
  expired = watch.version <= store_.expired();
  if (expired) {
    return EventLine("ERROR", LocalFailure(410, "Expired", "too old resource version").body);
  }
  std::string text;
  const std::string resource = watch.target.kind->info.name.ToString();
  const auto& changes = store_.changes();
  auto at = std::upper_bound(
      changes.begin(), changes.end(), watch.version,
      [](uint64_t version, const auto& change) { return version < change.version; });
  for (; at != changes.end(); ++at) {
    const LocalObjectStore::Change& change = *at;
    if (std::get<0>(change.key) != resource) continue;
    if (!watch.target.ns.empty() && std::get<1>(change.key) != watch.target.ns) continue;
    const bool was = Selects(watch, change.before);
    const bool is = Selects(watch, change.after);
    if (!was && !is) continue;
    json object = is ? *change.after : *change.before;
    object["metadata"]["resourceVersion"] = absl::StrCat(change.version);
    text += EventLine(!was ? "ADDED"
                      : is ? "MODIFIED"
                           : "DELETED",
                      Shown(object, watch.metadata_only));
  }
  watch.version = store_.version();
  return text;
}

}  // namespace flyball::kube
