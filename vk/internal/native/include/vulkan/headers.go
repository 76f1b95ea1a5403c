// Package vulkan is a folder of Khronos headers (1.3.239, Apache-2.0 as each file says). The Go file is here so
// that "go mod vendor" takes them along.
package vulkan
