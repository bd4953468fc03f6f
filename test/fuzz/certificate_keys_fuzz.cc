// links: http
//
// Certificates and private keys of any bytes: where the key is accepted and OpenSSL can read it, it
// is of a kind that is cheap to use. In a message a certificate is judged as it is alone.
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/x509.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/openssl_ptr.h"
#include "http/certificate_keys.h"

namespace {

using flyball::http::KeyFlaw;
using flyball::http::KeyFlawOf;
using flyball::http::KeyFlawOfMessage;
using flyball::http::TypeOfPrivateKey;

void Require(bool holds) {
  if (!holds) std::abort();
}

std::string Counted(const std::string& bytes) {
  const size_t size = bytes.size();
  return {static_cast<char>(size >> 16 & 0xff), static_cast<char>(size >> 8 & 0xff),
          static_cast<char>(size & 0xff)};
}

std::string Message(const std::string& certificate, bool tls13) {
  const std::string end = tls13 ? std::string(2, '\0') : "";  // no extensions
  const std::string list = Counted(certificate) + certificate + end;
  const std::string body = (tls13 ? std::string(1, '\0') : "") + Counted(list) + list;
  return "\x0b" + Counted(body) + body;
}

void CheckKey(const EVP_PKEY* key) {
  if (EVP_PKEY_is_a(key, "RSA") != 0) {
    BIGNUM* exponent = nullptr;
    Require(EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1);
    Require(EVP_PKEY_get_bits(key) <= 8192 && BN_num_bits(exponent) <= 31);
    BN_free(exponent);
  } else if (EVP_PKEY_is_a(key, "EC") != 0) {
    char curve[80] = "";
    size_t size = 0;
    Require(EVP_PKEY_get_group_name(key, curve, sizeof curve, &size) == 1);
    const int id = OBJ_sn2nid(curve);
    Require(id == NID_secp224r1 || id == NID_X9_62_prime256v1 || id == NID_secp384r1 ||
            id == NID_secp521r1);
  } else {
    Require(EVP_PKEY_is_a(key, "ED25519") != 0);
  }
}

void CheckPrivateKey(const char* kind, const std::string& bytes) {
  const int type = TypeOfPrivateKey(kind, bytes);
  if (type == EVP_PKEY_NONE) return;
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  const flyball::PkeyPtr key(d2i_PrivateKey(type, nullptr, &at, static_cast<long>(bytes.size())));
  if (key == nullptr) return;
  Require(EVP_PKEY_get_base_id(key.get()) == type);
  CheckKey(key.get());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  KeyFlawOfMessage(bytes, false);
  KeyFlawOfMessage(bytes, true);
  for (const char* kind : {"PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY"}) {
    CheckPrivateKey(kind, bytes);
  }
  const KeyFlaw flaw = KeyFlawOf(bytes);
  for (const bool tls13 : {false, true}) {
    Require(KeyFlawOfMessage(Message(bytes, tls13), tls13) == flaw);
  }
  if (flaw != KeyFlaw::kNone) return 0;
  const unsigned char* at = data;
  const flyball::X509Ptr certificate(d2i_X509(nullptr, &at, static_cast<long>(size)));
  if (certificate == nullptr) return 0;
  if (const EVP_PKEY* key = X509_get0_pubkey(certificate.get()); key != nullptr) CheckKey(key);
  return 0;
}
