# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Tests mirror the tree: tests/unit/shared/ring/spsc_test.cpp tests shared/ring/spsc.hpp. All tests
# of one folder make one executable, which links every library of the tree.

find_package(GTest REQUIRED)

# The one source of the tests that knows paths of this machine (tests/places.hpp).
add_library(test_places STATIC EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/places.cpp)
target_compile_definitions(test_places PRIVATE
  MILLRACE_SOURCE_DIR="${CMAKE_SOURCE_DIR}" MILLRACE_BIN_DIR="${CMAKE_BINARY_DIR}/bin")

# Every static library of the tree that is named millrace_*.
function(millrace_libraries out folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  set(found)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "STATIC_LIBRARY" AND target MATCHES "^millrace_")
      list(APPEND found ${target})
    endif()
  endforeach()
  foreach(sub IN LISTS folders)
    millrace_libraries(inner ${sub})
    list(APPEND found ${inner})
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

function(millrace_link_everything target)
  millrace_libraries(libraries ${CMAKE_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE ${libraries} ${ARGN})
endfunction()

# Their files have helpers of the same names.
set(millrace_tests_apart unit_services_classifier unit_services_functions
  unit_services_functions_match unit_services_functions_route unit_shared_links unit_shared_recovery
  unit_shared_watch)

# millrace_unit_test(<name> <source>...): a GoogleTest executable, one entry in ctest.
function(millrace_unit_test name)
  add_executable(${name} ${ARGN})
  if(NOT name IN_LIST millrace_tests_apart)
    millrace_unity(${name})
  endif()
  # libpcap compiles filters (orchestration/planner) and is the oracle of captures; nothing else
  # may use it.
  millrace_link_everything(${name} GTest::gmock GTest::gtest_main millrace::pcap)
  target_link_libraries(${name} PRIVATE test_places)
  target_compile_options(${name} PRIVATE -O1)  # compiles faster; what they test keeps its -O3
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600)
endfunction()

# millrace_unit_tests_below(<prefix> <folder>): one millrace_unit_test a folder with *_test.cpp.
function(millrace_unit_tests_below prefix folder)
  cmake_path(ABSOLUTE_PATH folder NORMALIZE)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*_test.cpp)
  set(groups)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH parent)
    cmake_path(RELATIVE_PATH parent BASE_DIRECTORY ${folder} OUTPUT_VARIABLE inside)
    string(REGEX REPLACE "[/.]+" "_" group "${prefix}_${inside}")
    string(REGEX REPLACE "_+$" "" group ${group})
    list(APPEND groups ${group})
    list(APPEND sources_of_${group} ${source})
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    millrace_unit_test(${group} ${sources_of_${group}})
  endforeach()
endfunction()

# millrace_fuzz_target(<name> <source>): the source defines LLVMFuzzerTestOneInput. With
# MILLRACE_FUZZ libFuzzer drives it; otherwise a small driver replays tests/fuzz/corpus/<name>/ and
# tries a fixed number of seeded mutations of it, as a test.
add_custom_target(fuzz_targets)

function(millrace_fuzz_target name source)
  add_executable(fuzz_${name} ${source})
  add_dependencies(fuzz_targets fuzz_${name})
  set_target_properties(fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  millrace_link_everything(fuzz_${name})
  set(corpus ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name})
  if(MILLRACE_FUZZ)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer,address,undefined)
  else()
    target_sources(fuzz_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/fuzz/driver/standalone.cpp)
    add_test(NAME fuzz_${name} COMMAND fuzz_${name} ${corpus})
    set_tests_properties(fuzz_${name} PROPERTIES TIMEOUT 300)
  endif()
endfunction()
