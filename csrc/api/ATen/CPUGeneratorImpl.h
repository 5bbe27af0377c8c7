#pragma once

#include <aten/CPUGeneratorImpl.h>
