#pragma once

#include <csrc/nn/functional/padding.h>
