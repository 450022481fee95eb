# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# nvcc from a toolkit or from wheels; g++ links. Without nvcc MILLRACE_HAVE_CUDA is false and the
# gpu-worker has its software device only, and says so.

file(GLOB millrace_wheel_nvcc
  ${CMAKE_SOURCE_DIR}/build/venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc)
if(NOT MILLRACE_NVCC)
  find_program(MILLRACE_NVCC_FOUND NAMES nvcc
    HINTS /usr/local/cuda/bin ${millrace_wheel_nvcc}/.. NO_CACHE)
  if(MILLRACE_NVCC_FOUND)
    set(MILLRACE_NVCC ${MILLRACE_NVCC_FOUND})
  elseif(millrace_wheel_nvcc)
    list(GET millrace_wheel_nvcc 0 MILLRACE_NVCC)
  endif()
endif()

set(MILLRACE_HAVE_CUDA FALSE)
if(MILLRACE_NVCC AND EXISTS ${MILLRACE_NVCC})
  cmake_path(GET MILLRACE_NVCC PARENT_PATH cuda_root)
  cmake_path(GET cuda_root PARENT_PATH cuda_root)
  find_library(MILLRACE_CUDART NAMES libcudart_static.a NO_CACHE
    HINTS ${cuda_root}/lib64 ${cuda_root}/lib ${cuda_root}/targets/x86_64-linux/lib)
  if(MILLRACE_CUDART)
    set(MILLRACE_HAVE_CUDA TRUE)
    add_library(millrace_cudart INTERFACE)
    add_library(millrace::cudart ALIAS millrace_cudart)
    target_include_directories(millrace_cudart SYSTEM INTERFACE ${cuda_root}/include)
    target_compile_definitions(millrace_cudart INTERFACE MILLRACE_HAVE_CUDA=1)
    target_link_libraries(millrace_cudart INTERFACE ${MILLRACE_CUDART} Threads::Threads dl rt)
  endif()
endif()
message(STATUS "nvcc: ${MILLRACE_NVCC} (CUDA: ${MILLRACE_HAVE_CUDA})")

# sm_80 and sm_90 as machine code, and PTX for every later device. Functions marked constexpr run on
# both sides.
set(MILLRACE_CUDA_FLAGS -std=c++20 -O3 -lineinfo -ccbin ${CMAKE_CXX_COMPILER}
  --expt-relaxed-constexpr -gencode arch=compute_80,code=sm_80
  -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90
  -Xcompiler=-fPIC,-Wall,-Wextra,-Wno-missing-field-initializers -Werror all-warnings)

# millrace_cuda_sources(<target> <file.cu>...): compiles the files with nvcc into the target.
# Call only where MILLRACE_HAVE_CUDA is true.
function(millrace_cuda_sources target)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE inside)
    set(object ${CMAKE_BINARY_DIR}/cuda/${target}/${inside}.o)
    cmake_path(GET object PARENT_PATH folder)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${MILLRACE_NVCC} ${MILLRACE_CUDA_FLAGS} -I ${CMAKE_SOURCE_DIR}
        -MD -MF ${object}.d -MT ${object} -c ${source} -o ${object}
      DEPENDS ${source}
      DEPFILE ${object}.d
      VERBATIM)
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    set_property(GLOBAL APPEND PROPERTY MILLRACE_CUDA_OBJECTS ${object})
    target_sources(${target} PRIVATE ${object})
  endforeach()
  target_link_libraries(${target} PUBLIC millrace::cudart)
endfunction()

# millrace_device_code_target(): `device_code` compiles every file of millrace_cuda_sources(), for
# all architectures, and nothing else. Call after the last of these.
function(millrace_device_code_target)
  get_property(objects GLOBAL PROPERTY MILLRACE_CUDA_OBJECTS)
  if(MILLRACE_HAVE_CUDA)
    add_custom_target(device_code DEPENDS ${objects})
  else()
    add_custom_target(device_code
      COMMAND ${CMAKE_COMMAND} -E echo "there is no nvcc on this machine: 'make deps' brings one"
      COMMAND ${CMAKE_COMMAND} -E false)
  endif()
endfunction()
