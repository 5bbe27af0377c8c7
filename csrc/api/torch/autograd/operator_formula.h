// Derivatives for custom operators: torch::autograd::autogradFormula.
#pragma once

#include <autograd/operator_formula.h>
