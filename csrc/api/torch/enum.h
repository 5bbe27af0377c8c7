#pragma once

#include <csrc/enum.h>
