set(engine_sources validator/engine_echo.cc)
