#pragma once

/** TinyUSB includes it with am_util_stdio.h. */
