// Returns memory to the system that was freed in pieces, which glibc does not return by itself.
#pragma once

#include <cstdlib>  // says whether it is glibc

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace flyball {

// Works for all threads. Takes milliseconds if much is free in many pieces.
inline void ReturnFreeMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace flyball
