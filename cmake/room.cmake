# wt_room(NAME [ROOMS a b] [LIBS x y] [EXCLUDE regex]): src/NAME becomes library wt_NAME (all *.cc but the tests) and
# test program NAME_test (all *_test.cc).
add_library(wt_flags INTERFACE)
target_compile_options(wt_flags INTERFACE -Wall -Wextra -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports accesses past the end inside inlined fmt and libstdc++ code that are not there.
  target_compile_options(wt_flags INTERFACE -Wno-stringop-overflow -Wno-restrict -Wno-array-bounds)
  target_compile_options(wt_flags INTERFACE -fpch-preprocess)  # lets ccache see through precompiled headers
endif()
target_include_directories(wt_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
if(WT_SANITIZE)
  target_compile_options(wt_flags INTERFACE -fsanitize=${WT_SANITIZE} -fno-omit-frame-pointer
                                            -fno-sanitize-recover=all)
  target_link_options(wt_flags INTERFACE -fsanitize=${WT_SANITIZE})
endif()

# Headers that most files include and that take seconds to read are compiled once for the rooms and
# once, with GoogleTest's, for the test programs.
set(wt_common_headers <fmt/format.h> <nlohmann/json.hpp> <algorithm> <filesystem> <functional> <map> <memory>
                      <optional> <string> <thread> <vector>)
set(wt_cli_options -O1)  # of code that reads options and prints
set(wt_test_options -O0)  # the code under test keeps its own level; tests build sooner
function(wt_precompiled name)
  file(CONFIGURE OUTPUT ${name}.cc CONTENT "// Holds a place beside precompiled headers.\n")
  add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  target_link_libraries(${name} PRIVATE wt_flags fmt::fmt nlohmann_json::nlohmann_json)
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()
wt_precompiled(wt_headers ${wt_common_headers})
wt_precompiled(wt_cli_headers ${wt_common_headers} <CLI/CLI.hpp>)  # for programs with options
wt_precompiled(wt_test_headers ${wt_common_headers} <gmock/gmock.h> <gtest/gtest.h>)
target_link_libraries(wt_test_headers PRIVATE GTest::gmock)
target_compile_options(wt_test_headers PRIVATE ${wt_test_options})
target_link_libraries(wt_cli_headers PRIVATE CLI11::CLI11)
target_compile_options(wt_cli_headers PRIVATE ${wt_cli_options})
set_target_properties(wt_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)  # as test programs are

# Target `name` uses the headers that rooms do, compiled once; programs must then be compiled as rooms are.
function(wt_uses_headers name headers)
  get_target_property(type ${name} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${name} REUSE_FROM ${headers})
endfunction()

# Target `name` reads a command line.
function(wt_has_options name)
  target_link_libraries(${name} PUBLIC CLI11::CLI11)
  target_compile_options(${name} PRIVATE ${wt_cli_options})
  wt_uses_headers(${name} wt_cli_headers)
endfunction()

# wt_test(NAME SOURCES a.cc LIBS wt_x LABELS fast): a GoogleTest program known to ctest.
function(wt_test name)
  cmake_parse_arguments(T "" "" "SOURCES;LIBS;LABELS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_link_libraries(${name} PRIVATE wt_flags ${T_LIBS} GTest::gmock GTest::gtest_main)
  target_precompile_headers(${name} REUSE_FROM wt_test_headers)
  target_compile_options(${name} PRIVATE ${wt_test_options})
  target_compile_definitions(${name} PRIVATE WT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300 LABELS "${T_LABELS}")
endfunction()

function(wt_room name)
  cmake_parse_arguments(R "CLI" "EXCLUDE" "ROOMS;LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  if(R_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${R_EXCLUDE}")
  endif()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(NOT sources)
    add_library(wt_${name} INTERFACE)
    return()
  endif()
  add_library(wt_${name} STATIC ${sources})
  list(TRANSFORM R_ROOMS PREPEND wt_)
  target_link_libraries(wt_${name} PUBLIC wt_flags ${R_ROOMS} ${R_LIBS})
  if(R_CLI)
    wt_has_options(wt_${name})
  else()
    wt_uses_headers(wt_${name} wt_headers)
  endif()
  if(tests)
    wt_test(${name}_test SOURCES ${tests} LIBS wt_${name} LABELS fast)
  endif()
endfunction()
