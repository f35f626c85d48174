# Programs of the tests: they need the sizes of tests/small.
set(tested_sources ${server_sources} ${engine_sources} tests/fake_board.cc)
add_executable(unit_tests EXCLUDE_FROM_ALL
  tests/unit_tests.cc tests/counter_tests.cc tests/power_tests.cc tests/session_tests.cc
  tests/tensor_tests.cc
  ${tested_sources})
add_executable(replay EXCLUDE_FROM_ALL tests/replay.cc tests/fuzz_server.cc ${tested_sources})
add_executable(fuzz EXCLUDE_FROM_ALL tests/fuzz_server.cc ${tested_sources})
foreach(program unit_tests replay fuzz)
  target_link_libraries(${program} PRIVATE firmware_options)
endforeach()
target_compile_options(fuzz PRIVATE -fsanitize=fuzzer)
target_link_options(fuzz PRIVATE -fsanitize=fuzzer)
