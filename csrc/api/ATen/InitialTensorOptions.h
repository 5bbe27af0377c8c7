#pragma once

#include <aten/InitialTensorOptions.h>
