# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# DPDK, linked statically: executables then run on hosts without DPDK, and no driver folder of the
# build machine is compiled in. The archives are listed by hand; `pkg-config --static` would drag in
# ibverbs, dbus and systemd.
#
#   millrace::dpdk          EAL, rings, mempools, mbufs, fib, rib, acl, hash: every process
#   millrace::dpdk_drivers  buses and drivers without outside libraries: the hub and the io-worker

find_path(MILLRACE_DPDK_INCLUDE rte_ring.h PATH_SUFFIXES dpdk REQUIRED)
find_path(MILLRACE_DPDK_ARCH_INCLUDE rte_config.h
  PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE}/dpdk dpdk REQUIRED)
find_package(Threads REQUIRED)

# millrace_dpdk_archives(<out> <name>...): <out> is the list of imported targets of librte_<name>.a.
function(millrace_dpdk_archives out)
  set(targets)
  foreach(name IN LISTS ARGN)
    find_library(MILLRACE_DPDK_${name} NAMES librte_${name}.a REQUIRED)
    mark_as_advanced(MILLRACE_DPDK_${name})
    add_library(dpdk_${name} STATIC IMPORTED)
    set_target_properties(dpdk_${name} PROPERTIES IMPORTED_LOCATION ${MILLRACE_DPDK_${name}})
    list(APPEND targets dpdk_${name})
  endforeach()
  list(JOIN targets "," joined)
  set(${out} ${joined} PARENT_SCOPE)
endfunction()

# What EAL itself needs from outside.
foreach(lib numa bsd md)
  find_library(MILLRACE_DPDK_NEEDS_${lib} NAMES lib${lib}.a ${lib} REQUIRED)
  mark_as_advanced(MILLRACE_DPDK_NEEDS_${lib})
endforeach()

# Parts that are called by name: an executable gets only what it uses of them.
millrace_dpdk_archives(called ethdev fib rib lpm acl hash ip_frag reorder net mbuf ring rcu meter
  kvargs telemetry timer pci vhost dmadev cryptodev security gso common_iavf)
add_library(millrace_dpdk_called INTERFACE)
target_link_libraries(millrace_dpdk_called INTERFACE "$<LINK_GROUP:RESCAN,${called}>"
  ${MILLRACE_DPDK_NEEDS_numa} ${MILLRACE_DPDK_NEEDS_bsd} ${MILLRACE_DPDK_NEEDS_md}
  Threads::Threads dl m)

# Parts that register themselves in constructors, which nobody calls by name.
millrace_dpdk_archives(registering eal mempool mempool_ring)
add_library(millrace_dpdk INTERFACE)
add_library(millrace::dpdk ALIAS millrace_dpdk)
target_include_directories(millrace_dpdk SYSTEM INTERFACE
  ${MILLRACE_DPDK_INCLUDE} ${MILLRACE_DPDK_ARCH_INCLUDE})
target_compile_options(millrace_dpdk INTERFACE "SHELL:-include rte_config.h")
target_link_libraries(millrace_dpdk INTERFACE
  "$<LINK_LIBRARY:WHOLE_ARCHIVE,${registering}>" millrace_dpdk_called)

millrace_dpdk_archives(drivers bus_vdev bus_pci net_null net_ring net_memif net_tap net_virtio
  net_vhost net_e1000 net_igc net_ixgbe net_i40e net_ice net_iavf net_ena net_gve net_vmxnet3)
add_library(millrace_dpdk_drivers INTERFACE)
add_library(millrace::dpdk_drivers ALIAS millrace_dpdk_drivers)
target_link_libraries(millrace_dpdk_drivers INTERFACE
  "$<LINK_LIBRARY:WHOLE_ARCHIVE,${drivers}>" millrace_dpdk)

# CMake puts the called parts behind these archives only if told that they need them.
string(REPLACE "," ";" users "${registering},${drivers}")
set_property(TARGET ${users} APPEND PROPERTY INTERFACE_LINK_LIBRARIES millrace_dpdk_called)
