#pragma once

#include <csrc/arg.h>
