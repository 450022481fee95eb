# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Language, warnings, sanitizers and the place of executables, for every target of the tree.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# Hosts of the bundle and of CI differ in nothing that a configure check could tell.
set(THREADS_PREFER_PTHREAD_FLAG ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
# -g1: back traces with lines, without the size of full debug information.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O3 -g1")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O3 -g1")

# Objects name no folder of this machine, so that the cache serves every clone of the tree.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
find_program(MILLRACE_CCACHE ccache)
if(MILLRACE_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
    CCACHE_NOHASHDIR=1 ${MILLRACE_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()

# Several sources at a time, where headers are most of the work: a build from nothing takes half the
# time, one after a small change longer.
function(millrace_unity)
  if(MILLRACE_UNITY)
    set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# What a step of the build generates lies in generated/, at the path that its #include names.
include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
# Designated initializers leave members at their defaults on purpose.
add_compile_options(-march=${MILLRACE_MARCH} -fno-omit-frame-pointer
  -Wall -Wextra -Werror -Wno-missing-field-initializers)
add_compile_definitions(_GNU_SOURCE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-restrict)  # false alarms on std::string, GCC bug 105651
endif()

if(MILLRACE_SANITIZE STREQUAL "address")
  add_compile_options(-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
  add_compile_definitions(MILLRACE_SANITIZE_ADDRESS=1)
elseif(MILLRACE_SANITIZE STREQUAL "thread")
  add_compile_options(-O1 -g1 -fsanitize=thread)
  add_link_options(-fsanitize=thread)
  # The rings' fences in assembler are invisible to TSan; the C11 model is visible.
  add_compile_definitions(MILLRACE_SANITIZE_THREAD=1 RTE_USE_C11_MEM_MODEL=1)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)
  endif()
elseif(MILLRACE_SANITIZE)
  message(FATAL_ERROR "MILLRACE_SANITIZE is '${MILLRACE_SANITIZE}': address, thread or empty")
endif()

if(MILLRACE_METRICS_SWITCH_FOR_BENCH)
  add_compile_definitions(MILLRACE_METRICS_SWITCH_FOR_BENCH=1)
endif()

if(MILLRACE_FUZZ)
  # Coverage everywhere: libFuzzer steers by it. Only fuzz targets link its main().
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
