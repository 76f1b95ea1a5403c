package structures

// Metrics are what the host knows of a structure, without a look at the device and without a turn: for monitoring, as
// often as one likes. Stats of each structure, which scan it, say more. All but Bytes only grow.
type Metrics struct {
	// Updates and Queries are what the structure was asked for since it was made, by calls with slices and on streams,
	// done or not. What is recorded counts once, with as many operations as there may be; a mixed batch is one of
	// updates.
	Updates, Queries Calls
	// Retries are how often operations were left pending, so that room had to be made for them, or were tried again.
	Retries uint64
	// Growths are how often the structure's memory became larger, or its pool's, by whichever of those that share it.
	Growths uint64
	// Rebuilds are rehashes, compactions and cleanups, those that calls had done by themselves among them.
	Rebuilds uint64
	// Bytes is the device memory of the structure and its pool, without temporary memory.
	Bytes uint64
	// Kernels is how many kernels were made on the structure's device, by all that is on it: each takes up to seconds.
	// None is made for a call behind Prepare.
	Kernels uint64
}

// Calls count what a structure was asked for.
type Calls struct{ Batches, Operations uint64 }
