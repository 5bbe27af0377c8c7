#pragma once

#include <aten/InferSize.h>
