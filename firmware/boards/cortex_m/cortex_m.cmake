# What the emulated boards share. A board sets cpu_flags and has memory.ld and memory_map.h.
set(cortex_m boards/cortex_m)
set(board_sources
  ${cortex_m}/board.cc ${cortex_m}/cmsdk_uart.cc ${cortex_m}/fault.cc ${cortex_m}/mailbox.cc
  ${cortex_m}/no_system_calls.cc ${cortex_m}/protection.cc ${cortex_m}/startup.cc ${cortex_m}/systick.cc)
set(board_suffix ".elf")
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
target_include_directories(firmware_options INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}/boards/${BOARD}")
target_compile_options(firmware_options INTERFACE -mthumb ${cpu_flags})
target_link_options(firmware_options INTERFACE
  -mthumb ${cpu_flags} -nostartfiles -Wl,--gc-sections -Wl,--fatal-warnings
  "-T${CMAKE_CURRENT_SOURCE_DIR}/boards/${BOARD}/memory.ld"
  "-L${CMAKE_CURRENT_SOURCE_DIR}/${cortex_m}")
