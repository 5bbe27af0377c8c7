#pragma once

#include <aten/cuda/Exceptions.h>
