#pragma once

#include <csrc/data/datasets/base.h>
