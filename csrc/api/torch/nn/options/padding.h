#pragma once

#include <csrc/nn/options/padding.h>
