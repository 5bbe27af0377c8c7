#pragma once

#include <csrc/nn/enum.h>
