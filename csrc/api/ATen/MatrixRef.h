#pragma once

#include <aten/MatrixRef.h>
