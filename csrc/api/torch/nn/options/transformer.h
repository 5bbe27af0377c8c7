#pragma once

#include <csrc/nn/options/transformer.h>
