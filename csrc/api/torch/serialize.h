#pragma once

#include <csrc/serialize/serialize.h>
#include <csrc/serialize/state_dict.h>
