# Finds ns-3 and defines one imported target for each requested component: ns3::core, ns3::network ...
#
# It looks in these places, in this order:
#   NS3_ROOT   a CMake or environment variable: the prefix of an installed ns-3, or the top folder of a built ns-3 tree
#   the wheel  `ns3` in the site-packages of Python_EXECUTABLE; found by its path, because importing it starts cppyy
#
# Result variables: Ns3_LIBRARY_DIR, Ns3_INCLUDE_DIR, Ns3_FROM_WHEEL, Ns3_VERSION.
#
# The ns3Config.cmake of the wheel cannot be used, because its targets name include folders that exist only on the machine
# on which it was built. It does show how the wheel was compiled:
#   __LINUX__ NS3_BUILD_PROFILE_RELEASE HAVE_SQLITE3 HAVE_LIBXML2 HAVE_GSL NS3_LOG_ENABLE NS3_ASSERT_ENABLE, C++20, no MPI
# Some of these macros change what the headers define. NS3_LOG_ENABLE changes the layout of UdpClient, to which it adds a
# member. HAVE_GSL only adds members to DsssErrorRateModel (Wi-Fi), NS3_ASSERT_ENABLE only adds the checks of NS_ASSERT to
# inline functions, and NS3_BUILD_PROFILE_* only selects the NS_BUILD_* macros. The 128-bit arithmetic of ns3::Time does not
# depend on these macros: ns3/core-config.h selects it, and every ns-3 build installs its own copy. The targets below define
# the macros of the wheel, so that every inline function has only one definition in the process.

set(Ns3_FROM_WHEEL FALSE)
if(NOT NS3_ROOT AND NOT "$ENV{NS3_ROOT}" STREQUAL "")
  set(NS3_ROOT "$ENV{NS3_ROOT}")
endif()
if(NS3_ROOT)
  get_filename_component(_ns3_roots "${NS3_ROOT}" ABSOLUTE BASE_DIR "${CMAKE_BINARY_DIR}")
else()
  find_package(Python 3.11...<3.14 COMPONENTS Interpreter)
  if(NOT Python_Interpreter_FOUND)
    message(FATAL_ERROR "cosim needs Python 3.11, 3.12 or 3.13: choose one with -DPython_EXECUTABLE=...")
  endif()
  # Even with pip's build isolation, these are the folders of the environment into which pip installs.
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -c "import sysconfig; p = sysconfig.get_paths(); print(p['platlib'], p['purelib'], sep=';', end='')"
    OUTPUT_VARIABLE _ns3_site_packages COMMAND_ERROR_IS_FATAL ANY)
  list(TRANSFORM _ns3_site_packages APPEND "/ns3" OUTPUT_VARIABLE _ns3_roots)
  set(Ns3_FROM_WHEEL TRUE)
endif()

# Libraries have names such as libns3.44-core.so or libns3-dev-core-default.so. The parts before and after the name of the
# module are the same for all modules.
unset(Ns3_INCLUDE_DIR)
unset(Ns3_LIBRARY_DIR)
foreach(_root IN LISTS _ns3_roots)
  foreach(_prefix IN ITEMS "${_root}" "${_root}/build")
    file(GLOB _ns3_cores "${_prefix}/lib*/libns3*-core*.so" "${_prefix}/lib/*/libns3*-core*.so")
    if(NOT Ns3_LIBRARY_DIR AND _ns3_cores AND EXISTS "${_prefix}/include/ns3/core-module.h")
      list(GET _ns3_cores 0 _ns3_core)
      cmake_path(GET _ns3_core PARENT_PATH Ns3_LIBRARY_DIR)
      cmake_path(GET _ns3_core FILENAME _ns3_core)
      string(REGEX MATCH "^(libns3(.*)-)core(.*\\.so)$" _ "${_ns3_core}")
      set(_ns3_before "${CMAKE_MATCH_1}")
      set(_ns3_after "${CMAKE_MATCH_3}")
      set(Ns3_VERSION "3${CMAKE_MATCH_2}") # 3.44, 3-dev
      set(Ns3_INCLUDE_DIR "${_prefix}/include")
    endif()
  endforeach()
endforeach()

if(NOT Ns3_LIBRARY_DIR AND Ns3_FROM_WHEEL)
  message(FATAL_ERROR "cosim needs ns-3 and found no ns3 wheel for ${Python_EXECUTABLE}: run "
                      "`${Python_EXECUTABLE} -m pip install --no-deps ns3==3.44.post0`, or set NS3_ROOT to the prefix of your own ns-3 build.")
elseif(NOT Ns3_LIBRARY_DIR)
  message(FATAL_ERROR "NS3_ROOT=${NS3_ROOT} contains no built ns-3: expected include/ns3/core-module.h and lib*/libns3*-core*.so "
                      "there or in its build/ folder (shared libraries: `./ns3 configure && ./ns3 build`).")
endif()

foreach(_module IN LISTS Ns3_FIND_COMPONENTS)
  set(_library "${Ns3_LIBRARY_DIR}/${_ns3_before}${_module}${_ns3_after}")
  if(EXISTS "${_library}" AND NOT TARGET ns3::${_module})
    add_library(ns3::${_module} SHARED IMPORTED)
    set_target_properties(ns3::${_module} PROPERTIES IMPORTED_LOCATION "${_library}")
    target_include_directories(ns3::${_module} SYSTEM INTERFACE "${Ns3_INCLUDE_DIR}")
    target_compile_definitions(ns3::${_module} INTERFACE __LINUX__ NS3_BUILD_PROFILE_RELEASE NS3_LOG_ENABLE NS3_ASSERT_ENABLE)
  endif()
  if(TARGET ns3::${_module})
    set(Ns3_${_module}_FOUND TRUE)
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Ns3 REQUIRED_VARS Ns3_LIBRARY_DIR Ns3_INCLUDE_DIR VERSION_VAR Ns3_VERSION HANDLE_COMPONENTS)
