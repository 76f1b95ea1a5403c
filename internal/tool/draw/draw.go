// Package draw shows data structures: as SVG, as a page that plays a trace, and in a window.
//
// The pictures are of a tree's nodes, how full they are, and their links (Tree), or of the loads of a hash table's
// buckets (Table). They need no device. Pictures of large structures stay small: if there are too many nodes or
// buckets, consecutive ones are drawn as one.
//
// A page (Page) is an HTML file, which needs nothing else, with the structure as it was after each event of a trace,
// played forward and back. The idea is that of the debugger of figure 5.1 in T. D. Duong's thesis, Implementation of
// B-trees on GPU (2021).
//
// In a window (Window), a compute shader reads the structure's device memory and writes the window's images. That needs
// the build tag glfw, by which a program gets go-gl/glfw and the shaders. The window has an instance and a device of
// its own, because package vk knows no surfaces. vk.Adopt takes the device over, so that the structure and the window
// share it.
//
//	table  buckets in lines, from left to right; below each other the slabs of a bucket, with their slots
//	tree   a line for each level; a node is as wide as all leaves below it
//
// Where there is no room for slots, a node or a bucket has the color of its fill, and where there is none for nodes,
// several share the color of their mean. The colors are those of the pictures.
package draw

import "github.com/vkds/vkds/structures/btree"

// Node is a node of a tree. Latches are shown, because in a read-only phase none may be held.
type Node = btree.Node[uint64]
