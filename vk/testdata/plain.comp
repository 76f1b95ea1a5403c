#version 460
// Has neither push constants nor specialization constants.
layout(local_size_x = 32) in;

void main() {}
