# Read by cpack: all files in the package get the same time, so that equal programs make equal packages.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  set(ENV{SOURCE_DATE_EPOCH} 1767225600) # 2026-01-01
endif()
