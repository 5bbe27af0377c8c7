#pragma once

#include <csrc/nn/modules/common.h>
