//go:build !unix

package main

func refuseGrowth() {}
