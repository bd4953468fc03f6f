// Ends the handshake with a TLS peer whose certificates have keys that certificate_keys.h does not
// accept, before OpenSSL decodes them: it would do so before it asks anybody about them.
//
// Thread-safe.
#pragma once

#include <string>

struct ssl_ctx_st;

namespace flyball::http {

// From now on, for the connections that are made of this context: servers and clients.
void CheckPeerKeys(ssl_ctx_st* context);

// Does the same for each context that this process makes from now on, whoever makes it, and limits
// what their peers may show to 16 KiB of certificates, and of names of authorities, unless the
// context is given another limit. For those of gRPC, which has no setting for either.
void CheckPeerKeysOfLaterContexts();

// Why a key was not accepted in the last step of OpenSSL in this thread, as long as its queue of
// errors has not been emptied since. "": that was not the reason, or there was no error.
std::string RefusedPeerKey();

}  // namespace flyball::http
