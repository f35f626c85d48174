set(board_sources boards/host/board.cc boards/host/pins.cc)
set(board_suffix "")
if(SANITIZE)
  target_compile_options(firmware_options INTERFACE
    -g -fsanitize=address,undefined -fno-sanitize-recover=all)
  target_link_options(firmware_options INTERFACE -fsanitize=address,undefined)
endif()
