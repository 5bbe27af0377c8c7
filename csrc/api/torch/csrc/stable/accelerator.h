#pragma once
#include <csrc/stable/accelerator.h>
