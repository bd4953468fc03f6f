// Certificates and keys for tests, written in DER by hand.
#pragma once

#include <openssl/objects.h>

#include <cstdint>
#include <string>

namespace flyball::http {

inline std::string BigEndian(size_t number, size_t bytes) {
  std::string text(bytes, '\0');
  for (size_t i = bytes; i > 0; --i, number >>= 8) text[i - 1] = static_cast<char>(number & 0xff);
  return text;
}

// An element of DER.
inline std::string Element(uint8_t tag, const std::string& content) {
  const size_t size = content.size();
  const std::string length = size < 0x80    ? BigEndian(size, 1)
                             : size < 0x100 ? "\x81" + BigEndian(size, 1)
                                            : "\x82" + BigEndian(size, 2);
  return static_cast<char>(tag) + length + content;
}
inline std::string Sequence(const std::string& content) { return Element(0x30, content); }
inline std::string Number(const std::string& bytes) { return Element(0x02, bytes); }
inline std::string Bits(const std::string& bytes) { return Element(0x03, '\0' + bytes); }

inline std::string Identifier(int id) {
  unsigned char bytes[64];
  unsigned char* end = bytes;
  i2d_ASN1_OBJECT(OBJ_nid2obj(id), &end);
  return std::string(bytes, end);
}

// A certificate whose SubjectPublicKeyInfo has these contents.
inline std::string WithKeyInfo(const std::string& info, bool with_version = true) {
  const std::string signature = Sequence(Identifier(NID_ecdsa_with_SHA256));
  const std::string time = Element(0x17, "260101000000Z");
  return Sequence(Sequence((with_version ? Element(0xa0, Number("\2")) : "") + Number("\1") +
                           signature + Sequence("") + Sequence(time + time) + Sequence("") +
                           Sequence(info)) +
                  signature + Bits(""));
}

inline std::string WithKey(int kind, const std::string& parameters, const std::string& key) {
  return WithKeyInfo(Sequence(Identifier(kind) + parameters) + Bits(key));
}

}  // namespace flyball::http
