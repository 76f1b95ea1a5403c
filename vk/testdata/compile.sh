#!/bin/sh
# Compiles the shaders of the tests; "go generate ./vk" runs it.
set -eu
cd "$(dirname "$0")"
for source in *.comp; do
	glslangValidator --quiet --target-env vulkan1.3 -o "${source%.comp}.spv" "$source"
	spirv-val --target-env vulkan1.3 "${source%.comp}.spv"
done
