#pragma once

#include <c10/util/Backtrace.h>
