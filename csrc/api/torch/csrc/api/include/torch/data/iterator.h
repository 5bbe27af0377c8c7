#pragma once

#include <torch/data/iterator.h>
