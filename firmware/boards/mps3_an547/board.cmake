set(cpu_flags -mcpu=cortex-m55 -mfloat-abi=hard)
include(boards/cortex_m/cortex_m.cmake)
