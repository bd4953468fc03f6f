#include "http/server/peer_chain.h"

#include <openssl/asn1.h>
#include <openssl/obj_mac.h>

#include <algorithm>

#include "absl/strings/escaping.h"
#include "base/openssl_ptr.h"

namespace flyball::http {
namespace {

std::vector<std::string> SubjectValues(const X509* certificate, int nid) {
  std::vector<std::string> values;
  const X509_NAME* name = X509_get_subject_name(certificate);
  for (int i = X509_NAME_get_index_by_NID(name, nid, -1); i >= 0;
       i = X509_NAME_get_index_by_NID(name, nid, i)) {
    unsigned char* utf8 = nullptr;
    const int length =
        ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, i)));
    if (length < 0) continue;
    values.emplace_back(reinterpret_cast<const char*>(utf8), static_cast<size_t>(length));
    OPENSSL_free(utf8);
  }
  return values;
}

size_t FootprintOf(const X509* certificate) {
  return PeerChain::kMemoryForEachByte *
         static_cast<size_t>(std::max(i2d_X509(certificate, nullptr), 0));
}

}  // namespace

std::shared_ptr<PeerChain> PeerChain::FromConnection(ssl_st* ssl) {
  X509* leaf = SSL_get1_peer_certificate(ssl);
  if (leaf == nullptr) return nullptr;
  auto chain = std::make_shared<PeerChain>();
  chain->leaf = leaf;
  // On the server's side OpenSSL leaves the leaf out of this list.
  if (STACK_OF(X509)* rest = SSL_get_peer_cert_chain(ssl); rest != nullptr) {
    for (int i = 0; i < sk_X509_num(rest); ++i) {
      X509* certificate = sk_X509_value(rest, i);
      X509_up_ref(certificate);
      chain->intermediates.push_back(certificate);
    }
  }
  // Go takes the last CN where a subject has several.
  if (auto names = SubjectValues(leaf, NID_commonName); !names.empty()) {
    chain->common_name = names.back();
  }
  chain->organizations = SubjectValues(leaf, NID_organizationName);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  if (X509_digest(leaf, EVP_sha256(), digest, &length) == 1) {
    chain->sha256_hex =
        absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), length));
  }
  chain->not_after = TimeOf(X509_get0_notAfter(leaf));
  chain->footprint = FootprintOf(leaf);
  for (X509* certificate : chain->intermediates) chain->footprint += FootprintOf(certificate);
  return chain;
}

PeerChain::~PeerChain() {
  X509_free(leaf);
  for (X509* certificate : intermediates) X509_free(certificate);
}

}  // namespace flyball::http
