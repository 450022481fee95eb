# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# One interface target a library from outside. With MILLRACE_BUNDLE each links its archive where the
# distribution has one; what it has only as a shared object is copied beside the executables.
#
#   millrace::zmq  ::capnp  ::yaml  ::prometheus  ::hyperscan  ::spdlog  ::cli11  ::json  ::xdp
#   millrace::ipsec_mb  ::pcap  ::seccomp  ::htp  ::nghttp2  ::pcre2  ::crypto

# millrace_external(<name> LIBS <lib>... [ARCHIVES <lib>...] [DEFINES <d>...])
# LIBS is the ordinary link line; ARCHIVES what replaces it in a bundle (found as lib<lib>.a).
function(millrace_external name)
  cmake_parse_arguments(ARG "" "" "LIBS;ARCHIVES;DEFINES" ${ARGN})
  add_library(millrace_${name} INTERFACE)
  add_library(millrace::${name} ALIAS millrace_${name})
  set(libs ${ARG_LIBS})
  if(MILLRACE_BUNDLE AND ARG_ARCHIVES)
    set(libs)
    foreach(lib IN LISTS ARG_ARCHIVES)
      find_library(MILLRACE_A_${lib} NAMES lib${lib}.a ${lib} REQUIRED)
      mark_as_advanced(MILLRACE_A_${lib})
      list(APPEND libs ${MILLRACE_A_${lib}})
    endforeach()
  endif()
  target_link_libraries(millrace_${name} INTERFACE ${libs} Threads::Threads)
  target_compile_definitions(millrace_${name} INTERFACE ${ARG_DEFINES})
endfunction()

# libzmq has GSSAPI compiled in, of which there is no archive.
millrace_external(zmq LIBS zmq ARCHIVES zmq sodium pgm norm protokit bsd md gssapi_krb5)
millrace_external(capnp LIBS capnp-rpc capnp kj-async kj
  ARCHIVES capnp-rpc capnp kj-async kj)
millrace_external(yaml LIBS yaml-cpp ARCHIVES yaml-cpp)
# No archives of prometheus-cpp: its shared objects bring the shared libstdc++, which therefore has
# to come first, else an executable would hold two.
if(MILLRACE_BUNDLE)
  millrace_external(prometheus LIBS -Wl,--push-state,--no-as-needed -l:libstdc++.so.6
    -Wl,--pop-state prometheus-cpp-core)
else()
  millrace_external(prometheus LIBS prometheus-cpp-core)
endif()
# Always the archive: only there the code of one instruction set can be named (match.cpp says why).
find_library(MILLRACE_VECTORSCAN NAMES libhs.a REQUIRED)
mark_as_advanced(MILLRACE_VECTORSCAN)
millrace_external(hyperscan LIBS ${MILLRACE_VECTORSCAN})
millrace_external(ipsec_mb LIBS IPSec_MB ARCHIVES IPSec_MB)
millrace_external(xdp LIBS xdp bpf elf z ARCHIVES xdp bpf elf z)
millrace_external(pcap LIBS pcap)
millrace_external(seccomp LIBS seccomp ARCHIVES seccomp)
millrace_external(htp LIBS htp z ARCHIVES htp z)
millrace_external(nghttp2 LIBS nghttp2 ARCHIVES nghttp2)
millrace_external(pcre2 LIBS pcre2-8 ARCHIVES pcre2-8)
millrace_external(crypto LIBS crypto ARCHIVES crypto)
millrace_external(spdlog DEFINES SPDLOG_FMT_EXTERNAL SPDLOG_HEADER_ONLY FMT_HEADER_ONLY)
millrace_external(cli11)
millrace_external(json)

find_program(MILLRACE_CAPNP capnp)

# millrace_capnp(<target> <schema.capnp>): compiles the schema into the target. Included as
# "<path from the root>/<schema>.capnp.h".
function(millrace_capnp target schema)
  cmake_path(ABSOLUTE_PATH schema NORMALIZE)
  cmake_path(RELATIVE_PATH schema BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE inside)
  set(out ${CMAKE_BINARY_DIR}/generated)
  add_custom_command(
    OUTPUT ${out}/${inside}.c++ ${out}/${inside}.h
    COMMAND ${CMAKE_COMMAND} -E make_directory ${out}
    COMMAND ${MILLRACE_CAPNP} compile -oc++:${out} --src-prefix=${CMAKE_SOURCE_DIR} ${schema}
    DEPENDS ${schema}
    VERBATIM)
  cmake_path(GET schema STEM stem)
  add_custom_target(${target}_${stem}_schema DEPENDS ${out}/${inside}.h)
  add_dependencies(generated_headers ${target}_${stem}_schema)
  target_sources(${target} PRIVATE ${out}/${inside}.c++)
  set_source_files_properties(${out}/${inside}.c++ PROPERTIES COMPILE_OPTIONS "-w")
  target_include_directories(${target} SYSTEM PUBLIC ${out})
  target_link_libraries(${target} PUBLIC millrace::capnp)
endfunction()
