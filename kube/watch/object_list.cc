#include "kube/watch/object_list.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/go/url.h"
#include "base/status_macros.h"
#include "kube/client/api_client.h"
#include "kube/client/api_error.h"
#include "kube/objects/api_version.h"
#include "kube/objects/list_splitter.h"

namespace flyball::kube {
namespace {

constexpr char kAcceptList[] = "application/json";
constexpr char kAcceptListOfMetadata[] =
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";
constexpr size_t kMaxPageBytes = 1u << 30;
constexpr size_t kMaxObjectBytes = 16u << 20;

// Gives each object of a list its apiVersion and kind, which the API server leaves out of the items
// of its own kinds.
class Typed {
 public:
  explicit Typed(const ResourceInfo& resource)
      : prefix_(absl::StrCat("{\"apiVersion\":\"",
                             ApiVersion{resource.name.group, resource.version}.ToString(),
                             "\",\"kind\":\"", resource.kind, "\"")) {}

  // Lives until the next call.
  absl::string_view operator()(absl::string_view object) {
    const absl::string_view fields = absl::StripLeadingAsciiWhitespace(object.substr(1));
    // If they are present they come first, as Go writes them.
    if (absl::StartsWith(fields, "\"kind\"") || absl::StartsWith(fields, "\"apiVersion\"")) {
      return object;
    }
    text_.assign(prefix_);
    if (!absl::StartsWith(fields, "}")) text_.push_back(',');
    text_.append(fields.data(), fields.size());
    return text_;
  }

 private:
  const std::string prefix_;
  std::string text_;
};

// A 429 (too many requests) must not be confused with a list that is too large.
absl::StatusCode NotTooLarge(absl::StatusCode code) {
  return code == absl::StatusCode::kResourceExhausted ? absl::StatusCode::kUnavailable : code;
}

absl::Status ListError(absl::string_view path, const http::HttpAnswer& answer) {
  const absl::Status status = ApiError(absl::StrCat("list ", path), answer.status, answer.body);
  return absl::Status(NotTooLarge(status.code()), status.message());
}

http::HttpCall ListCall(const ObjectWatchOptions& options, std::string target) {
  http::HttpCall call;
  call.target = std::move(target);
  call.headers = {{"Accept", options.metadata_only ? kAcceptListOfMetadata : kAcceptList}};
  call.timeout = options.list_timeout;
  call.max_body_bytes = kMaxPageBytes;
  return call;
}

}  // namespace

std::string CollectionPath(const ObjectWatchOptions& options) {
  return ObjectPath(options.resource.name.group, options.resource.version, options.ns,
                    options.resource.name.resource, "");
}

std::string SelectorQuery(const ObjectWatchOptions& options) {
  std::string query;
  if (!options.label_selector.empty()) {
    absl::StrAppend(&query, "&labelSelector=", go::UrlEscape(options.label_selector));
  }
  if (!options.field_selector.empty()) {
    absl::StrAppend(&query, "&fieldSelector=", go::UrlEscape(options.field_selector));
  }
  return query;
}

absl::StatusOr<std::string> ListPages(http::HttpTransport& server,
                                      const ObjectWatchOptions& options, ObjectReader& reader,
                                      WatchHandler& handler) {
  const std::string path = CollectionPath(options);
  Typed typed(options.resource);
  std::string continue_token;
  bool paged = true;
  handler.ListStarted();
  while (true) {
    std::string target = absl::StrCat(
        path, "?", paged ? absl::StrCat("limit=", options.page_size) : "", SelectorQuery(options));
    if (!continue_token.empty())
      absl::StrAppend(&target, "&continue=", go::UrlEscape(continue_token));
    ASSIGN_OR_RETURN(http::HttpAnswer answer, server.Do(ListCall(options, std::move(target))));
    if (answer.status == 410 && paged && !continue_token.empty()) {
      // The pages have expired while they were read: all in one piece, then.
      handler.ListStarted();
      continue_token.clear();
      paged = false;
      continue;
    }
    if (answer.status != 200) return ListError(path, answer);
    ASSIGN_OR_RETURN(PageEnd page, reader.ReadPage(answer.body, [&](absl::string_view object) {
      handler.Listed(options.metadata_only ? object : typed(object));
    }));
    RETURN_IF_ERROR(handler.Acceptable());
    if (page.continue_token.empty()) return std::move(page.resource_version);
    // It would go on for ever, as where something on the way drops the token from the request.
    if (page.continue_token == continue_token) {
      return absl::InvalidArgumentError(
          absl::StrCat("list ", path, ": the same page comes again and again"));
    }
    continue_token = std::move(page.continue_token);
  }
}

absl::StatusOr<std::string> NewestVersion(http::HttpTransport& server,
                                          const ObjectWatchOptions& options, ObjectReader& reader) {
  const std::string path = CollectionPath(options);
  ASSIGN_OR_RETURN(
      http::HttpAnswer answer,
      server.Do(ListCall(options, absl::StrCat(path, "?limit=1", SelectorQuery(options)))));
  if (answer.status != 200) return ListError(path, answer);
  ASSIGN_OR_RETURN(PageEnd page, reader.ReadPage(answer.body, [](absl::string_view) {}));
  return std::move(page.resource_version);
}

absl::StatusOr<std::string> ListWhole(http::HttpTransport& server,
                                      const ObjectWatchOptions& options, absl::string_view version,
                                      ObjectReader& reader, WatchHandler& handler) {
  const std::string path = CollectionPath(options);
  Typed typed(options.resource);
  ListSplitter splitter(kMaxObjectBytes);
  int listed = 0;
  absl::Status acceptable;
  const auto take = [&](absl::string_view object) {
    if (!acceptable.ok()) return;
    handler.Listed(options.metadata_only ? object : typed(object));
    if (++listed % options.page_size == 0) acceptable = handler.Acceptable();
  };
  http::HttpCall call =
      ListCall(options, absl::StrCat(path, "?resourceVersion=", version, SelectorQuery(options)));
  call.headers.emplace_back("Accept-Encoding", "gzip");
  handler.ListStarted();
  const absl::Status ended = server.Stream(call, [&](absl::string_view piece) {
    acceptable.Update(splitter.Feed(piece, take));
    return acceptable.ok();
  });
  RETURN_IF_ERROR(acceptable);
  if (!ended.ok()) {
    const absl::Status said = ApiError(absl::StrCat("list ", path), 0, ended.message());
    return absl::Status(NotTooLarge(ended.code()), said.message());
  }
  std::string rest = splitter.TakeRest();
  ASSIGN_OR_RETURN(PageEnd end, reader.ReadPage(rest, take));
  if (!end.continue_token.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("list ", path, ": not all was sent"));
  }
  RETURN_IF_ERROR(handler.Acceptable());
  return std::move(end.resource_version);
}

}  // namespace flyball::kube
