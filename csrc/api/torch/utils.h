#pragma once

#include <csrc/utils.h>
