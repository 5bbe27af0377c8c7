// Libraries that are opened when first needed: every function that the plugin looks up is there in the toolkit's
// version.
#include <aten/cuda/Libraries.h>

#include <c10/util/Exception.h>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using at::cuda::Library;
using at::cuda::library_function;

TEST_CASE("cuFFT and cuSOLVER have what the plugin calls", "[cuda]") {
  for (const char* name :
       {"cufftCreate", "cufftDestroy", "cufftSetAutoAllocation", "cufftSetStream", "cufftSetWorkArea",
        "cufftXtMakePlanMany", "cufftXtExec"}) {
    CHECK(library_function(Library::cuFFT, name) != nullptr);
  }
  std::vector<std::string> names = {"Create", "SetStream",        "CreateParams",     "Xpotrs",
                                    "Xgetrs", "CreateGesvdjInfo", "DestroyGesvdjInfo"};
  for (const std::string name : {"Xpotrf", "Xgetrf", "Xgeqrf", "Xsyevd", "XsyevBatched", "Xgesvd", "Xgeev", "Xsytrs"}) {
    names.push_back(name);
    names.push_back(name + "_bufferSize");
  }
  for (const std::string letter : {"S", "D", "C", "Z"}) {
    const bool complex = letter == "C" || letter == "Z";
    for (const std::string name : {complex ? "ungqr" : "orgqr", complex ? "unmqr" : "ormqr", "sytrf", "gesvdj"}) {
      names.push_back(letter + name);
      names.push_back(letter + name + "_bufferSize");
    }
    names.push_back(letter + "potrfBatched");
  }
  for (const std::string& name : names) {
    CHECK(library_function(Library::cuSOLVER, ("cusolverDn" + name).c_str()) != nullptr);
  }
}

TEST_CASE("cuSPARSE has what the plugin calls", "[cuda]") {
  for (const char* name :
       {"cusparseCreate", "cusparseSetStream", "cusparseCreateCsr", "cusparseDestroySpMat", "cusparseCreateDnMat",
        "cusparseDestroyDnMat", "cusparseSpMM_bufferSize", "cusparseSpMM", "cusparseSDDMM_bufferSize",
        "cusparseSDDMM"}) {
    CHECK(library_function(Library::cuSPARSE, name) != nullptr);
  }
}

TEST_CASE("cuDNN has what convolution and recurrent layers call", "[cuda]") {
  if (!at::cuda::has_library(Library::cuDNN)) {
    CHECK_THROWS_WITH(
        library_function(Library::cuDNN, "cudnnCreate"), Catch::Contains("cuDNN is needed and cannot be opened"));
    return;
  }
  std::vector<std::string> names = {
      "Create", "SetStream", "GetErrorString", "SetTensorNdDescriptor", "SetFilterNdDescriptor"};
  for (const std::string kind : {"Tensor", "Filter", "Convolution", "Dropout", "RNN", "RNNData"}) {
    names.push_back("Create" + kind + "Descriptor");
    names.push_back("Destroy" + kind + "Descriptor");
  }
  for (const std::string field : {"NdDescriptor", "GroupCount", "MathType"}) {
    names.push_back("SetConvolution" + field);
  }
  for (const std::string pass : {"Forward", "BackwardData", "BackwardFilter"}) {
    names.push_back("Convolution" + pass);
    names.push_back("GetConvolution" + pass + "Algorithm_v7");
    names.push_back("FindConvolution" + pass + "AlgorithmEx");
    names.push_back("GetConvolution" + pass + "WorkspaceSize");
  }
  for (const std::string name :
       {"GetTensorNdDescriptor", "DropoutGetStatesSize", "SetDropoutDescriptor", "RestoreDropoutDescriptor",
        "SetRNNDescriptor_v8", "SetRNNDataDescriptor", "GetRNNWeightSpaceSize", "GetRNNWeightParams",
        "GetRNNTempSpaceSizes", "RNNForward", "RNNBackwardData_v8", "RNNBackwardWeights_v8"}) {
    names.push_back(name);
  }
  for (const std::string& name : names) {
    INFO(name);
    CHECK(library_function(Library::cuDNN, ("cudnn" + name).c_str()) != nullptr);
  }
}

TEST_CASE("a function that a library lacks is named", "[cuda]") {
  CHECK_THROWS_WITH(
      library_function(Library::cuFFT, "cufftNothing"), Catch::Contains("cuFFT on this machine lacks cufftNothing"));
}
