#pragma once

#include <csrc/data/datasets/shared.h>
