#version 460
// Nothing but a workgroup: no push constants, no specialization constant.
layout(local_size_x = 32) in;

void main() {}
