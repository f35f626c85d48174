#pragma once

/** TinyUSB prints by it, when it is told to. */
