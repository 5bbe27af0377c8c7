#pragma once

#include <c10/util/Logging.h>
