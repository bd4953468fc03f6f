#include "http/certificate_keys.h"

#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace flyball::http {
namespace {

constexpr size_t kMostModulusBits = 8192;
constexpr size_t kMostExponentBits = 31;
constexpr size_t kEd25519Bytes = 32;

// Elements of DER, one after the other. OpenSSL's own parser finds where each ends, so that it
// cannot find another key than this one does.
class Elements {
 public:
  explicit Elements(absl::string_view bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }

  // What the next element contains, if it has this tag; nullopt: it has another, or none is whole.
  std::optional<absl::string_view> Take(int tag, int tag_class = V_ASN1_UNIVERSAL) {
    const bool constructed = tag == V_ASN1_SEQUENCE || tag_class != V_ASN1_UNIVERSAL;
    const auto* const begin = reinterpret_cast<const unsigned char*>(rest_.data());
    const unsigned char* at = begin;
    long length = 0;  // NOLINT(google-runtime-int): OpenSSL's type
    int found_tag = 0, found_class = 0;
    const int form =
        ASN1_get_object(&at, &length, &found_tag, &found_class, static_cast<long>(rest_.size()));
    // Other bits tell an error, or a length that is not told.
    if (form != (constructed ? V_ASN1_CONSTRUCTED : 0)) return std::nullopt;
    if (found_tag != tag || found_class != tag_class) return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(at - begin));
    const absl::string_view content = rest_.substr(0, static_cast<size_t>(length));
    rest_.remove_prefix(content.size());
    return content;
  }

  // The next element, which is an object identifier; NID_undef: it is not, or it is unknown.
  int TakeIdentifier() {
    const auto* const begin = reinterpret_cast<const unsigned char*>(rest_.data());
    const unsigned char* at = begin;
    ASN1_OBJECT* const object = d2i_ASN1_OBJECT(nullptr, &at, static_cast<long>(rest_.size()));
    if (object == nullptr) return NID_undef;
    rest_.remove_prefix(static_cast<size_t>(at - begin));
    const int id = OBJ_obj2nid(object);
    ASN1_OBJECT_free(object);
    return id;
  }

 private:
  absl::string_view rest_;
};

// What a certificate, or a key, contains, if it is a sequence and nothing follows.
std::optional<Elements> SequenceOf(absl::string_view bytes) {
  Elements whole(bytes);
  const auto content = whole.Take(V_ASN1_SEQUENCE);
  if (!content.has_value() || !whole.empty()) return std::nullopt;
  return Elements(*content);
}

// As OpenSSL reads the numbers of an RSA key, to which a negative one is a large one.
size_t BitsOf(absl::string_view number) {
  while (!number.empty() && number.front() == '\0') number.remove_prefix(1);
  if (number.empty()) return 0;
  return 8 * (number.size() - 1) + std::bit_width(static_cast<uint8_t>(number.front()));
}

KeyFlaw FlawOfRsa(Elements parameters, absl::string_view key) {
  const bool none = parameters.empty() || parameters.Take(V_ASN1_NULL).has_value();
  auto numbers = SequenceOf(key);
  if (!none || !parameters.empty() || !numbers.has_value()) return KeyFlaw::kUnreadable;
  const auto modulus = numbers->Take(V_ASN1_INTEGER);
  const auto exponent = numbers->Take(V_ASN1_INTEGER);
  if (!modulus.has_value() || !exponent.has_value() || !numbers->empty()) {
    return KeyFlaw::kUnreadable;
  }
  if (BitsOf(*modulus) > kMostModulusBits) return KeyFlaw::kModulus;
  return BitsOf(*exponent) > kMostExponentBits ? KeyFlaw::kExponent : KeyFlaw::kNone;
}

// Of the curve that the parameters name. 0: it is not accepted, or something follows. An unknown
// one may be given by all its numbers.
size_t CoordinateBytes(Elements parameters) {
  const int curve = parameters.TakeIdentifier();
  if (!parameters.empty()) return 0;
  switch (curve) {
    case NID_secp224r1: return 28;
    case NID_X9_62_prime256v1: return 32;
    case NID_secp384r1: return 48;
    case NID_secp521r1: return 66;
    default: return 0;
  }
}

KeyFlaw FlawOfPoint(Elements parameters, absl::string_view point) {
  constexpr char kUncompressed = 4;
  const size_t coordinate = CoordinateBytes(parameters);
  if (coordinate == 0) return KeyFlaw::kCurve;
  const bool plain = point.size() == 1 + 2 * coordinate && point.front() == kUncompressed;
  return plain ? KeyFlaw::kNone : KeyFlaw::kPoint;
}

// `info`: the content of a SubjectPublicKeyInfo.
KeyFlaw FlawOfKey(Elements info) {
  const auto algorithm = info.Take(V_ASN1_SEQUENCE);
  auto key = info.Take(V_ASN1_BIT_STRING);
  if (!algorithm.has_value() || !key.has_value() || !info.empty()) return KeyFlaw::kUnreadable;
  if (key->empty() || key->front() != '\0') return KeyFlaw::kUnreadable;
  key->remove_prefix(1);  // how many bits of the last byte are not used: none
  Elements parameters(*algorithm);
  switch (parameters.TakeIdentifier()) {
    case NID_rsaEncryption: return FlawOfRsa(parameters, *key);
    case NID_X9_62_id_ecPublicKey: return FlawOfPoint(parameters, *key);
    case NID_ED25519:
      return parameters.empty() && key->size() == kEd25519Bytes ? KeyFlaw::kNone
                                                                : KeyFlaw::kUnreadable;
    default: return KeyFlaw::kKind;
  }
}

KeyFlaw FlawOfCertificate(absl::string_view certificate) {
  auto parts = SequenceOf(certificate);
  if (!parts.has_value()) return KeyFlaw::kUnreadable;
  const auto what_is_signed = parts->Take(V_ASN1_SEQUENCE);
  if (!what_is_signed.has_value()) return KeyFlaw::kUnreadable;
  Elements fields(*what_is_signed);
  fields.Take(0, V_ASN1_CONTEXT_SPECIFIC);  // the version, which may be absent
  if (!fields.Take(V_ASN1_INTEGER).has_value()) return KeyFlaw::kUnreadable;  // the serial number
  for ([[maybe_unused]] const char* field : {"signature", "issuer", "validity", "subject"}) {
    if (!fields.Take(V_ASN1_SEQUENCE).has_value()) return KeyFlaw::kUnreadable;
  }
  const auto info = fields.Take(V_ASN1_SEQUENCE);
  return info.has_value() ? FlawOfKey(Elements(*info)) : KeyFlaw::kUnreadable;
}

// The numbers of a private key, none longer than the longest modulus. What OpenSSL does with a
// longer one takes seconds.
bool IsRsaKey(absl::string_view key) {
  auto numbers = SequenceOf(key);
  if (!numbers.has_value() || numbers->Take(V_ASN1_INTEGER) != absl::string_view("\0", 1)) {
    return false;  // the version says that there are no more than two primes
  }
  for (const char* number : {"n", "e", "d", "p", "q", "dP", "dQ", "qInv"}) {
    const size_t most = *number == 'e' ? kMostExponentBits : kMostModulusBits;
    const auto bytes = numbers->Take(V_ASN1_INTEGER);
    if (!bytes.has_value() || BitsOf(*bytes) > most) return false;
  }
  return numbers->empty();
}

// RFC 5915. Where the curve is named already, the key need not do it again.
bool IsCurveKey(absl::string_view key, bool named) {
  auto parts = SequenceOf(key);
  if (!parts.has_value() || !parts->Take(V_ASN1_INTEGER).has_value()) return false;
  if (!parts->Take(V_ASN1_OCTET_STRING).has_value()) return false;
  if (const auto curve = parts->Take(0, V_ASN1_CONTEXT_SPECIFIC); curve.has_value()) {
    if (CoordinateBytes(Elements(*curve)) == 0) return false;
    named = true;
  }
  parts->Take(1, V_ASN1_CONTEXT_SPECIFIC);  // the public key
  // Whatever is left is something else, or the curve in a form that only BER allows.
  return named && parts->empty();
}

// PKCS #8. The type of the key as OpenSSL numbers it; EVP_PKEY_NONE if it is not plain.
int TypeOfKeyInfo(absl::string_view bytes) {
  auto parts = SequenceOf(bytes);
  if (!parts.has_value() || !parts->Take(V_ASN1_INTEGER).has_value()) return EVP_PKEY_NONE;
  const auto algorithm = parts->Take(V_ASN1_SEQUENCE);
  const auto key = parts->Take(V_ASN1_OCTET_STRING);
  if (!algorithm.has_value() || !key.has_value()) return EVP_PKEY_NONE;
  Elements parameters(*algorithm);
  switch (parameters.TakeIdentifier()) {
    case NID_rsaEncryption: return IsRsaKey(*key) ? EVP_PKEY_RSA : EVP_PKEY_NONE;
    case NID_ED25519: return EVP_PKEY_ED25519;
    case NID_X9_62_id_ecPublicKey:
      return CoordinateBytes(parameters) != 0 && IsCurveKey(*key, /*named=*/true) ? EVP_PKEY_EC
                                                                                  : EVP_PKEY_NONE;
    default: return EVP_PKEY_NONE;
  }
}

// Removes a part from `bytes` that has its length, of so many bytes, before it.
std::optional<absl::string_view> TakePart(absl::string_view& bytes, size_t length_bytes) {
  if (bytes.size() < length_bytes) return std::nullopt;
  size_t length = 0;
  for (const char byte : bytes.substr(0, length_bytes)) {
    length = length << 8 | static_cast<uint8_t>(byte);
  }
  bytes.remove_prefix(length_bytes);
  if (bytes.size() < length) return std::nullopt;
  const absl::string_view part = bytes.substr(0, length);
  bytes.remove_prefix(length);
  return part;
}

}  // namespace

KeyFlaw KeyFlawOf(absl::string_view certificate) {
  // What OpenSSL says of bytes that it cannot parse is nothing for those who ask it afterwards.
  ERR_set_mark();
  const KeyFlaw flaw = FlawOfCertificate(certificate);
  ERR_pop_to_mark();
  return flaw;
}

int TypeOfPrivateKey(absl::string_view kind, absl::string_view der) {
  ERR_set_mark();
  int type = EVP_PKEY_NONE;
  if (kind == "RSA PRIVATE KEY" && IsRsaKey(der)) type = EVP_PKEY_RSA;
  if (kind == "EC PRIVATE KEY" && IsCurveKey(der, /*named=*/false)) type = EVP_PKEY_EC;
  if (kind == "PRIVATE KEY") type = TypeOfKeyInfo(der);
  ERR_pop_to_mark();
  return type;
}

KeyFlaw KeyFlawOfMessage(absl::string_view message, bool tls13) {
  // How many bytes the lengths of these parts have.
  constexpr size_t kMessage = 3, kContext = 1, kCertificates = 3, kExtensions = 2;
  message.remove_prefix(message.empty() ? 0 : 1);  // the type
  auto body = TakePart(message, kMessage);
  if (!body.has_value() || !message.empty()) return KeyFlaw::kUnreadable;
  if (tls13 && !TakePart(*body, kContext).has_value()) return KeyFlaw::kUnreadable;
  auto list = TakePart(*body, kCertificates);
  if (!list.has_value() || !body->empty()) return KeyFlaw::kUnreadable;
  while (!list->empty()) {
    const auto certificate = TakePart(*list, kCertificates);
    if (!certificate.has_value()) return KeyFlaw::kUnreadable;
    if (tls13 && !TakePart(*list, kExtensions).has_value()) return KeyFlaw::kUnreadable;
    if (const KeyFlaw flaw = KeyFlawOf(*certificate); flaw != KeyFlaw::kNone) return flaw;
  }
  return KeyFlaw::kNone;
}

}  // namespace flyball::http
