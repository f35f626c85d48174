set(cpu_flags -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard)
include(boards/cortex_m/cortex_m.cmake)
