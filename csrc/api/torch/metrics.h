#pragma once

#include <csrc/utils/metrics.h>
