#pragma once

#include <csrc/ordered_dict.h>
