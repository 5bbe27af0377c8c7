#pragma once

#include <csrc/xpu.h>
