#!/usr/bin/env bash
# Installs the library into an empty folder and builds and runs this project against it.
#   test/outside/run.sh BUILD_FOLDER
set -euo pipefail
build=$(realpath "$1")
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cmake --install "$build" --prefix "$folder/prefix" >"$folder/install.log" || { cat "$folder/install.log"; exit 1; }
# The source tree and its build folder must not be needed: no path of theirs may have been installed.
if grep -rlF -e "$build" -e "$(dirname "$(dirname "$here")")/" "$folder/prefix" --include='*.cmake' --include='*.h' --include='*.inc'; then
  echo "the files above name the source tree or the build folder"
  exit 1
fi
# The programs of the README, as they stand there.
sed -n '/^```cpp/,/^```$/p' "$here/../../README.md" | grep -v '^```' >"$folder/readme.cpp"
cmake -S "$here" -B "$folder/build" -G Ninja -DCMAKE_PREFIX_PATH="$folder/prefix" \
  -DREADME_PROGRAMS="$folder/readme.cpp" >"$folder/configure.log" || { cat "$folder/configure.log"; exit 1; }
cmake --build "$folder/build" --parallel 2 >"$folder/build.log" || { cat "$folder/build.log"; exit 1; }
for program in with_torch with_targets by_hand with_cuda with_kernel; do
  [[ $program != with_[ck]* ]] || [ -x "$folder/build/$program" ] || continue # the plugin may not be built, or nvcc be missing
  echo -n "$program: "
  "$folder/build/$program"
done
if [ -x "$folder/build/use_fused_norm" ]; then
  echo "use_fused_norm: "
  "$folder/build/use_fused_norm" "$folder/build/libfused_norm.so"
fi
# libtorch's place for the package, and the build folder in place of an installed library.
for package in "$folder/prefix/share/cmake/Torch" "$build"; do
  TORCH_CUDA_ARCH_LIST="8.0;9.0+PTX" cmake -S "$here" -B "$folder/again" -G Ninja --fresh -DTorch_DIR="$package" \
    -DREADME_PROGRAMS="$folder/readme.cpp" >"$folder/configure.log" || { cat "$folder/configure.log"; exit 1; }
  [ ! -x "$folder/build/with_kernel" ] || grep -q 'FLAGS.*code=\[sm_80\].*code=\[sm_90\].*code=\[compute_90\]' "$folder/again/build.ninja" ||
    { echo "$package: kernels are not compiled for the architectures of TORCH_CUDA_ARCH_LIST"; exit 1; }
done
printed=$("$folder/build/readme")
echo "readme: $printed"
[[ $printed =~ ^\ (3|2\.999)[.0-9]*$'\n'\[\ CPUFloatType\{1,1\}\ \]$ ]] || { echo "the README says it prints a number close to 3"; exit 1; }
