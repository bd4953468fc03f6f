# Compiler settings and the three functions that every floor's CMakeLists.txt is written with.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

option(FLYBALL_WERROR "Treat warnings as errors" ON)
set(FLYBALL_SANITIZE "" CACHE STRING "Sanitizers: address, thread, or empty")
option(FLYBALL_FUZZ "Build the fuzz targets for libFuzzer (needs clang)" OFF)
option(FLYBALL_TOGETHER "Compile several files of a library at once" OFF)
option(FLYBALL_PCH "Precompile the headers that most files include" OFF)

# No fused multiply-add: the replica math must round exactly as amd64 Go does. char has a sign on amd64, and so everywhere.
add_compile_options(-Wall -Wextra -Wconversion -Wno-sign-conversion -ffp-contract=off)
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options(-fsigned-char)
endif()
# GCC 12 reports these inside its own std::string and std::variant when it inlines; it has no false positive free form.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-restrict -Wno-maybe-uninitialized -Wno-dangling-pointer)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # A re2::LazyRE2 is made of its pattern alone.
  add_compile_options(-Wthread-safety -Wno-missing-field-initializers)
endif()
if(FLYBALL_WERROR)
  add_compile_options(-Werror)
endif()
# The same program from whatever folder it is built in.
add_compile_options($<$<CONFIG:Release>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>)
# GCC gives each object file its own copy of a shared inline function whose parameters it split: a fifth of the program's code.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<CONFIG:Release>:-fno-ipa-sra>)
endif()

if(FLYBALL_SANITIZE STREQUAL "address")
  # The check of vptr needs a pipe to see whether memory can be read, and so fails where a test takes all descriptors.
  add_compile_options(-fsanitize=address,undefined,float-cast-overflow -fno-sanitize=vptr -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(FLYBALL_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
endif()
if(FLYBALL_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(FLYBALL_CCACHE ccache)
if(FLYBALL_CCACHE)
  # What ccache asks for where headers are precompiled; no file here uses __DATE__ or __TIME__. What one checkout compiled serves
  # another: paths below the project count from the folder of the build.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
                                  CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${FLYBALL_CCACHE})
endif()

# mold links the many test programs in a tenth of the time; not under clang's fuzzer runtime, and no cross compiler finds it.
find_program(FLYBALL_MOLD mold)
if(FLYBALL_MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=mold)
endif()

include(FindPkgConfig)
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(absl REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
find_package(spdlog REQUIRED)
find_package(simdjson REQUIRED)
find_package(yaml-cpp REQUIRED)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
pkg_check_modules(CARES REQUIRED IMPORTED_TARGET libcares)
pkg_check_modules(SNAPPY REQUIRED IMPORTED_TARGET snappy)
pkg_check_modules(PROTOBUF REQUIRED IMPORTED_TARGET protobuf-lite)
pkg_check_modules(PROMETHEUS REQUIRED IMPORTED_TARGET prometheus-cpp-core)

# The HTTP/1.1 parser: Debian has it as C sources (node-llhttp), not as a library. Strict: what two programs might read in two ways
# is refused. cpp-httplib's own percent-decodes the values of request headers, so that `X-Remote-Group: system%3Amasters` would
# name another group.
find_path(LLHTTP_INCLUDE llhttp.h PATHS /usr/share/include/llhttp REQUIRED NO_CMAKE_FIND_ROOT_PATH)
find_path(LLHTTP_SOURCES llhttp.c PATHS /usr/share/llhttp REQUIRED NO_CMAKE_FIND_ROOT_PATH)
add_library(llhttp STATIC ${LLHTTP_SOURCES}/api.c ${LLHTTP_SOURCES}/http.c ${LLHTTP_SOURCES}/llhttp.c)
target_compile_options(llhttp PRIVATE -w)
target_compile_definitions(llhttp PRIVATE LLHTTP_STRICT_MODE=1)
target_include_directories(llhttp SYSTEM PUBLIC ${LLHTTP_INCLUDE})

# flyball_precompile(TARGET OWNER HEADERS…): OWNER precompiles the headers, and all other targets use what it made.
function(flyball_precompile target owner)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The first is for ccache. Some libraries ask for the second, and all must have the same.
    target_compile_options(${target} PRIVATE -fpch-preprocess -pthread)
    # GCC forgets which headers are the system's, and reports what it inlines of them.
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow)
  endif()
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

# The program compiles a third faster so. Builds for development, and those of the fuzz targets, do without: there a file that relies
# on the includes of another does not compile, and warnings are errors.
#
# With SMALL, what runs once, at the start or for a command: it is compiled for size, as all code of the program counts as memory of
# the server. Precompiled headers bring the optimisation that they were made with, so these have their own.
function(flyball_precompiled target)
  cmake_parse_arguments(ARG "SMALL" "" "" ${ARGN})
  set(owner flyball_base)
  if(ARG_SMALL)
    set(owner flyball_small)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Os>)
  endif()
  if(FLYBALL_PCH)
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-error>)
    flyball_precompile(${target} ${owner} ${PROJECT_SOURCE_DIR}/base/precompiled.h)
  endif()
endfunction()

if(FLYBALL_PCH)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/small.cc CONTENT "")
  add_library(flyball_small OBJECT ${CMAKE_BINARY_DIR}/small.cc)
  flyball_precompiled(flyball_small SMALL)
endif()

# GoogleTest is half of the work of most tests. They are optimised no more than builds for development are.
function(flyball_test_precompiled target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  flyball_precompile(${target} base_test ${PROJECT_SOURCE_DIR}/base/precompiled.h <gmock/gmock.h> <gtest/gtest.h>)
endfunction()

# flyball_tell_source_folder(FILES…): those tests that read files of the project are told where it lies, and only those: the others
# compile alike in every checkout, so that ccache knows them.
function(flyball_tell_source_folder)
  foreach(file ${ARGN})
    file(STRINGS ${file} uses REGEX "FLYBALL_SOURCE_DIR|adapter/testing/floor\\.h|test_external_peer\\.h")
    if(uses)
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_DEFINITIONS FLYBALL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    endif()
  endforeach()
endfunction()

# flyball_together(NAME VARIABLE): with FLYBALL_TOGETHER the list of sources becomes one of files that include six of them each. That
# takes half of the time, as most of it goes into templates that they share; with more a processor would be idle at the end, and
# a changed file would wait longer. Builds for development do without, as with precompiled headers.
#
# CMake's own UNITY_BUILD names the files with the folder of the checkout, so that ccache would not know what another one compiled.
# Sources that have settings of their own by then are compiled alone.
function(flyball_together name variable)
  if(NOT FLYBALL_TOGETHER)
    return()
  endif()
  set(alone "")
  set(rest "")
  foreach(file ${${variable}})
    set(settings "")
    foreach(property COMPILE_DEFINITIONS INCLUDE_DIRECTORIES SKIP_PRECOMPILE_HEADERS)
      get_property(value SOURCE ${file} PROPERTY ${property})
      list(APPEND settings ${value})
    endforeach()
    if(settings)
      list(APPEND alone ${file})
    else()
      list(APPEND rest ${file})
    endif()
  endforeach()
  set(made "")
  while(rest)
    list(SUBLIST rest 0 6 six)
    list(REMOVE_ITEM rest ${six})
    set(text "")
    foreach(file ${six})
      file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${file})
      string(APPEND text "#include \"${path}\"\n")
    endforeach()
    list(LENGTH made part)
    list(APPEND made ${CMAKE_CURRENT_BINARY_DIR}/together/${name}_${part}.cc)
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/together/${name}_${part}.cc CONTENT "${text}" @ONLY)
  endwhile()
  set(${variable} ${made} ${alone} PARENT_SCOPE)
endfunction()

# flyball_add_test(PROGRAM [SHARDS N]): runs the program's tests in one process, or in N that share them. A process for each of
# thousands of tests took two thirds of their time.
function(flyball_add_test program)
  cmake_parse_arguments(ARG "" "SHARDS" "" ${ARGN})
  if(NOT ARG_SHARDS)
    add_test(NAME ${program} COMMAND ${program} --gtest_brief=1)
    set_tests_properties(${program} PROPERTIES TIMEOUT 3600)
    return()
  endif()
  math(EXPR last "${ARG_SHARDS} - 1")
  foreach(shard RANGE ${last})
    set(name ${program}.${shard})
    add_test(NAME ${name} COMMAND ${program} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES TIMEOUT 3600 COST 100 # which begins first
                         ENVIRONMENT "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

# flyball_floor(NAME [SMALL] [ALONE] [SHARDS N] DEPS <floors> LIBS <libraries>)
#
# Makes library flyball_NAME of every .cc below this folder that is not a test, and NAME_test of every *_test.cc.
# Subfolders that have a CMakeLists.txt of their own are floors of their own and left out.
function(flyball_floor name)
  cmake_parse_arguments(ARG "SMALL;ALONE" "SHARDS" "DEPS;LIBS;TEST_LIBS" ${ARGN})
  set(small "")
  if(ARG_SMALL)
    set(small SMALL)
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  file(GLOB_RECURSE nested CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt)
  foreach(lists ${nested})
    get_filename_component(folder ${lists} DIRECTORY)
    list(FILTER sources EXCLUDE REGEX "^${folder}/")
  endforeach()
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")

  flyball_tell_source_folder(${tests})
  if(NOT ARG_ALONE) # with it, files of the library have names in common
    flyball_together(${name} sources)
  endif()
  flyball_together(${name}_test tests)

  list(TRANSFORM ARG_DEPS PREPEND flyball_)
  if(sources)
    add_library(flyball_${name} STATIC ${sources})
    flyball_precompiled(flyball_${name} ${small})
    set(scope PUBLIC)
  else()
    add_library(flyball_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(flyball_${name} ${scope} ${PROJECT_SOURCE_DIR})
  target_link_libraries(flyball_${name} ${scope} ${ARG_DEPS} ${ARG_LIBS})

  if(tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test flyball_${name} ${ARG_TEST_LIBS} flyball_temp_folder GTest::gmock_main)
    flyball_test_precompiled(${name}_test)
    flyball_add_test(${name}_test SHARDS ${ARG_SHARDS})
  endif()
endfunction()
