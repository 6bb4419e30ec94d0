# Enables C++20 with the warnings of this project, or stops with one sentence that says what to install.
# Defines the target `cosim-options`, to which every target of this project links.

include(CheckLanguage)
check_language(CXX)
if(NOT CMAKE_CXX_COMPILER)
  message(FATAL_ERROR "cosim needs a C++20 compiler and found none: install one (Debian, Ubuntu: "
                      "`sudo apt install g++`) or set the environment variable CXX to your compiler.")
endif()

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
endif()
enable_language(CXX)

# The first releases that can compile the headers of ns-3.44.
set(minimum_GNU 10.1)
set(minimum_Clang 11)
set(minimum_AppleClang 13)
set(minimum "${minimum_${CMAKE_CXX_COMPILER_ID}}")
if(NOT "cxx_std_20" IN_LIST CMAKE_CXX_COMPILE_FEATURES
   OR (minimum AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS minimum))
  message(FATAL_ERROR "cosim needs a C++20 compiler (GCC >= 10.1 or Clang >= 11), but ${CMAKE_CXX_COMPILER} is "
                      "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}: set the environment variable CXX to a newer compiler.")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON) # clang-tidy and editors read it
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ${COSIM_LTO})

find_program(CCACHE_EXECUTABLE ccache)
if(CCACHE_EXECUTABLE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_EXECUTABLE}")
endif()

# Results must be exactly the same on every machine, so there is no -ffast-math, no -march=native and no fused multiply-add.
# -fno-semantic-interposition promises that no function is replaced at load time. Without this promise, GCC does not inline
# functions that are visible outside their library.
add_library(cosim-options INTERFACE)
target_compile_options(cosim-options INTERFACE -Wall -Wextra -Wconversion -ffp-contract=off
                                               $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>
                                               $<$<BOOL:${COSIM_WERROR}>:-Werror>)

option(COSIM_SANITIZE "Stop at memory errors and undefined behaviour (AddressSanitizer and UndefinedBehaviorSanitizer)" OFF)
option(COSIM_COVERAGE "Count how often each line runs (gcov)" OFF)
if(COSIM_SANITIZE)
  # ns-3 itself is not instrumented. Its classes have no checked `vptr`, and the containers that it shares with this code have
  # no annotations of their unused capacity.
  set(sanitizers -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all)
  target_compile_options(cosim-options INTERFACE ${sanitizers} -fno-omit-frame-pointer -g1 -O1)
  target_link_options(cosim-options INTERFACE ${sanitizers})
endif()
if(COSIM_COVERAGE)
  # Without -O0, inline functions and merged lines would have no counts of their own.
  target_compile_options(cosim-options INTERFACE --coverage -fprofile-abs-path -O0)
  target_link_options(cosim-options INTERFACE --coverage)
endif()
