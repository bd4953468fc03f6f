// Fields of plain types, and those about the connection to a server.
#include <re2/re2.h>

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "adapter/live/scrape/config_reader.h"
#include "base/go/text.h"

namespace flyball::scrape {

using rules::YamlNode;

ConfigReader::ReadField ConfigReader::Text(std::string& out) {
  return [this, &out](const YamlNode& n, const std::string& p) {
    if (const auto text = TextOf(n, p)) out = *text;
  };
}

ConfigReader::ReadField ConfigReader::Texts(std::vector<std::string>& out) {
  return [this, &out](const YamlNode& n, const std::string& p) {
    out.clear();
    ReadItems(n, p, [this, &out](const YamlNode& item, const std::string& path) {
      if (const auto text = TextOf(item, path)) out.push_back(*text);
    });
  };
}

ConfigReader::ReadField ConfigReader::Bool(bool& out) {
  return [this, &out](const YamlNode& n, const std::string& p) {
    std::optional<bool> value;
    Read(n, p, value);
    if (value) out = *value;
  };
}

ConfigReader::ReadField ConfigReader::Number(uint64_t& out) {
  return [this, &out](const YamlNode& n, const std::string& p) {
    if (rules::IsNothing(n)) return;
    const auto text = TextOf(n, p);
    if (text && !absl::SimpleAtoi(*text, &out)) Wrong(n, p, "a whole number from 0 on");
  };
}

// 10MB, 1KiB, 512: all units are powers of 1024, as in Prometheus.
ConfigReader::ReadField ConfigReader::Bytes(uint64_t& out) {
  return [this, &out](const YamlNode& n, const std::string& p) {
    static const re2::LazyRE2 kSize = {R"((\d{1,12})(?:([KMGTPE])i?)?B?)"};
    if (rules::IsNothing(n)) return;
    const auto text = TextOf(n, p);
    if (!text) return;
    std::string unit;
    uint64_t count = 0;
    if (re2::RE2::FullMatch(*text, *kSize, &count, &unit)) {
      const size_t power = unit.empty() ? 0 : std::string("KMGTPE").find(unit) + 1;
      out = count << (10 * power);
      if (out >> (10 * power) == count) return;
    }
    Wrong(n, p, "a size such as 10MB or 512KB");
  };
}

ConfigReader::ReadField ConfigReader::Duration(absl::Duration& out) {
  return [this, &out](const YamlNode& n, const std::string& p) {
    if (!rules::IsNothing(n)) Read(n, p, out);
  };
}

ConfigReader::ReadField ConfigReader::Interval(absl::Duration& out) {
  return [this, &out](const YamlNode& n, const std::string& p) {
    Duration(out)(n, p);
    if (out == absl::ZeroDuration() || out >= kMinInterval) return;
    findings_.Error(n.place, p,
                    absl::StrCat("is shorter than ", absl::FormatDuration(kMinInterval)));
  };
}

ConfigReader::ReadField ConfigReader::OneOf(std::initializer_list<absl::string_view> words,
                                            std::string& out) {
  return [this, words = std::vector<absl::string_view>(words), &out](const YamlNode& n,
                                                                     const std::string& p) {
    const auto text = TextOf(n, p);
    if (!text || rules::IsNothing(n)) return;
    if (std::find(words.begin(), words.end(), *text) == words.end()) {
      return Wrong(n, p, absl::StrJoin(words, " or "));
    }
    out = *text;
  };
}

ConfigReader::ReadField ConfigReader::NameScheme(bool& legacy) {
  return [this, &legacy](const YamlNode& n, const std::string& p) {
    std::string scheme = legacy ? "legacy" : "utf8";
    OneOf({"utf8", "legacy"}, scheme)(n, p);
    legacy = scheme == "legacy";
  };
}

// For fields whose effect is given anyway, or which have no effect.
ConfigReader::ReadField ConfigReader::Ignored() {
  return [](const YamlNode&, const std::string&) {};
}

ConfigReader::ReadField ConfigReader::Unsupported(std::string instead) {
  return [this, instead](const YamlNode& n, const std::string& p) {
    findings_.Error(n.place, p, absl::StrCat("is not supported, expected ", instead));
  };
}

void ConfigReader::AddLimits(Limits& limits, Keys& keys) {
  keys.push_back({"sample_limit", Number(limits.samples)});
  keys.push_back({"target_limit", Number(limits.targets)});
  keys.push_back({"label_limit", Number(limits.labels)});
  keys.push_back({"label_name_length_limit", Number(limits.label_name_bytes)});
  keys.push_back({"label_value_length_limit", Number(limits.label_value_bytes)});
  keys.push_back({"body_size_limit", Bytes(limits.body_bytes)});
}

void ConfigReader::AddNativeHistograms(Keys& keys) {
  for (const char* name : {"scrape_native_histograms", "convert_classic_histograms_to_nhcb"}) {
    keys.push_back({name, [this](const YamlNode& n, const std::string& p) {
                      bool on = false;
                      Bool(on)(n, p);
                      if (on) Unsupported("false: histograms are kept as buckets")(n, p);
                    }});
  }
  keys.push_back({"always_scrape_classic_histograms", Ignored()});
}

ConfigReader::ReadField ConfigReader::Headers(http::TransportOptions& http) {
  return [this, &http](const YamlNode& n, const std::string& p) {
    if (n.kind != YamlNode::Kind::kMap) return Wrong(n, p, "a mapping from names to {values}");
    ForEachEntry(
        n, p, [](const YamlNode&) {},
        [&](const YamlNode& key, const YamlNode& value) {
          const auto name = TextOf(key, p);
          if (!name) return;
          std::vector<std::string> values, secrets;
          ReadMap(value, rules::FieldPath(p, *name),
                  {{"values", Texts(values)},
                   {"secrets", Texts(secrets)},
                   {"files", Unsupported("values or secrets")}});
          for (const std::string& text : values) http.headers.emplace_back(*name, text);
          for (const std::string& text : secrets) http.headers.emplace_back(*name, text);
        });
  };
}

void ConfigReader::AddHttp(http::TransportOptions& http, Keys& keys) {
  keys.push_back({"tls_config", Tls(http)});
  keys.push_back({"basic_auth", BasicAuth(http)});
  keys.push_back({"authorization", Authorization(http)});
  keys.push_back({"bearer_token", Text(http.token)});
  keys.push_back({"bearer_token_file", Text(http.token_file)});
  keys.push_back({"follow_redirects", Bool(http.follow_redirects)});
  keys.push_back({"http_headers", Headers(http)});
  keys.push_back({"enable_http2", Ignored()});
  for (const char* name :
       {"proxy_url", "proxy_from_environment", "proxy_connect_header", "no_proxy"}) {
    keys.push_back({name, Unsupported("none: proxies are not used")});
  }
  keys.push_back({"oauth2", Unsupported("basic_auth or authorization")});
}

ConfigReader::ReadField ConfigReader::Tls(http::TransportOptions& http) {
  return [this, &http](const YamlNode& n, const std::string& p) {
    ReadMap(n, p,
            {{"ca", Text(http.ca_data)},
             {"ca_file", Text(http.ca_file)},
             {"cert", Text(http.client_cert_data)},
             {"cert_file", Text(http.client_cert_file)},
             {"key", Text(http.client_key_data)},
             {"key_file", Text(http.client_key_file)},
             {"server_name", Text(http.server_name)},
             {"insecure_skip_verify", Bool(http.insecure_skip_verify)},
             {"min_version", Ignored()},
             {"max_version", Unsupported("none: the newest version is used")}});
  };
}

ConfigReader::ReadField ConfigReader::BasicAuth(http::TransportOptions& http) {
  return [this, &http](const YamlNode& n, const std::string& p) {
    ReadMap(n, p,
            {{"username", Text(http.username)},
             {"password", Text(http.password)},
             {"password_file", Text(http.password_file)},
             {"username_file", Unsupported("username")}});
  };
}

ConfigReader::ReadField ConfigReader::Authorization(http::TransportOptions& http) {
  return [this, &http](const YamlNode& n, const std::string& p) {
    ReadMap(n, p,
            {{"type", Text(http.token_scheme)},
             {"credentials", Text(http.token)},
             {"credentials_file", Text(http.token_file)}});
  };
}

void ConfigReader::CheckHttp(const YamlNode& node, const std::string& path,
                             const http::TransportOptions& http) {
  const bool basic =
      !http.username.empty() || !http.password.empty() || !http.password_file.empty();
  const bool token = !http.token.empty() || !http.token_file.empty();
  if (basic && token) {
    findings_.Error(node.place, path, "has basic_auth and authorization, expected one of them");
  }
  if (!http.token.empty() && !http.token_file.empty()) {
    findings_.Error(node.place, path, "has a token and a file with one, expected one of them");
  }
  if (!http.password.empty() && !http.password_file.empty()) {
    findings_.Error(node.place, path, "has a password and a file with one, expected one of them");
  }
}

}  // namespace flyball::scrape
