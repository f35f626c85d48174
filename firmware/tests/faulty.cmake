set(engine_sources tests/engine_faulty.cc)
