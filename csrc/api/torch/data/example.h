#pragma once

#include <csrc/data/example.h>
