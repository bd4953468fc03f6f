// Certificates for tests: a CA and what it signs, as PEM files in a folder.
#pragma once

#include <openssl/ec.h>
#include <openssl/x509v3.h>

#include <ctime>
#include <fstream>
#include <string>

#include "base/openssl_ptr.h"
#include "http/pem.h"

namespace flyball::http {

struct TestPair {
  X509Ptr certificate;
  PkeyPtr key;
};

struct TestCertificateSpec {
  std::string common_name;
  std::string organization = {};  // "" = none
  bool is_ca = false;
  std::string usage = "clientAuth";  // extendedKeyUsage; "" = none
  int64_t valid_from = -3600;        // seconds from now
  int64_t valid_to = 3600;
  std::string names =
      {};  // subject alternative names: "DNS:a.b,IP:127.0.0.1", "DER:30…"; "" = none
  std::string key = "P-256";  // a curve, "RSA" (of 2048 bits), "ED25519" or "ED448"
};

inline PkeyPtr MakeTestKey(const std::string& kind) {
  if (kind == "RSA") return PkeyPtr(EVP_RSA_gen(2048));
  if (kind.substr(0, 2) == "ED") {
    return PkeyPtr(EVP_PKEY_Q_keygen(nullptr, nullptr, kind.c_str()));
  }
  return PkeyPtr(EVP_EC_gen(kind.c_str()));
}

// Signed by `issuer`, or by itself.
inline TestPair MakeTestPair(const TestCertificateSpec& spec, const TestPair* issuer = nullptr) {
  TestPair pair;
  pair.key = MakeTestKey(spec.key);
  pair.certificate.reset(X509_new());
  X509* x = pair.certificate.get();
  static int serial = 1;
  X509_set_version(x, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(x), ++serial);
  time_t now = time(nullptr);  // once, so that it is valid for as long as the spec says
  X509_time_adj(X509_getm_notBefore(x), spec.valid_from, &now);
  X509_time_adj(X509_getm_notAfter(x), spec.valid_to, &now);
  X509_NAME* name = X509_get_subject_name(x);
  const auto add = [&](const char* field, const std::string& value) {
    X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1, 0);
  };
  add("CN", spec.common_name);
  if (!spec.organization.empty()) add("O", spec.organization);
  X509* signer = issuer == nullptr ? x : issuer->certificate.get();
  X509_set_issuer_name(x, X509_get_subject_name(signer));
  X509_set_pubkey(x, pair.key.get());
  const auto extend = [&](int nid, const char* value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, signer, x, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
    X509_add_ext(x, extension, -1);
    X509_EXTENSION_free(extension);
  };
  extend(NID_basic_constraints, spec.is_ca ? "critical,CA:TRUE" : "CA:FALSE");
  if (!spec.is_ca && !spec.usage.empty()) extend(NID_ext_key_usage, spec.usage.c_str());
  if (!spec.names.empty()) extend(NID_subject_alt_name, spec.names.c_str());
  EVP_PKEY* const signing = issuer == nullptr ? pair.key.get() : issuer->key.get();
  const bool edwards =
      EVP_PKEY_is_a(signing, "ED25519") != 0 || EVP_PKEY_is_a(signing, "ED448") != 0;
  X509_sign(x, signing, edwards ? nullptr : EVP_sha256());  // these have a digest of their own
  return pair;
}

inline TestPair MakeTestCa(const std::string& name) {
  return MakeTestPair({.common_name = name, .is_ca = true});
}

inline void WriteTestFile(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

// PREFIX.crt and PREFIX.key.
inline void WriteTestPair(const std::string& prefix, const TestPair& pair) {
  WriteTestFile(prefix + ".crt", PemOf(pair.certificate.get()));
  WriteTestFile(prefix + ".key", PemOf(pair.key.get()));
}

}  // namespace flyball::http
