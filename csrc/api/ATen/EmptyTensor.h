#pragma once

#include <aten/EmptyTensor.h>
