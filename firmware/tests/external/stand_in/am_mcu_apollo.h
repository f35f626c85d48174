#pragma once

/** What external.cc needs of the HAL: what only the cache has is lost when the memory does not keep it. */
void am_hal_cachectrl_dcache_invalidate(void *range, bool clean);
