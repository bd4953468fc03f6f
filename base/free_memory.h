// Returns memory to the system that was freed in pieces, which glibc does not return by itself.
#pragma once

#include <cstddef>
#include <cstdlib>  // says whether it is glibc

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace flyball {

// What takes so much has no use for the pieces that others have left free, above all on another
// thread.
inline constexpr size_t kMuchMemory = size_t{8} << 20;

// Works for all threads. Takes milliseconds if much is free in many pieces.
inline void ReturnFreeMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace flyball
