#pragma once

#include <torch/ordered_dict.h>
