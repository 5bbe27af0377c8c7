#pragma once

#include <csrc/data/datasets/stateful.h>
