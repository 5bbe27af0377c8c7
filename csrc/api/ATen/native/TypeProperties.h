#pragma once
#include <aten/native/TypeProperties.h>
