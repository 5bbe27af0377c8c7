#pragma once

#include <csrc/nn/arg.h>
