# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Link options of the bundle: executables find the few shared objects that go with them in ../lib.

if(MILLRACE_BUNDLE)
  set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")
  set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
  # The old kind of run path holds for the libraries of libraries too.
  add_link_options(-static-libstdc++ -static-libgcc -Wl,--disable-new-dtags -Wl,--as-needed
    -Wl,--gc-sections)
endif()
