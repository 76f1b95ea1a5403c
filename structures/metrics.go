package structures

// Metrics is what the host knows about a structure: d.Inspect().Metrics(). Reading it never waits for the device or for
// other calls, so it suits monitoring. The Stats of a structure say more, but may scan the structure. All fields except
// Bytes only grow.
type Metrics struct {
	// Updates and Queries count the calls with slices and on streams since the structure was made, also those that
	// failed. Recorded work counts once, by the greatest number of operations that it may have. A mixed batch counts as
	// updates.
	Updates, Queries Calls
	// Retries counts how often operations were left pending, and then were tried again, or memory was added for them.
	Retries uint64
	// Growths counts how often the memory of the structure or of its pool grew. A shared pool grows for any of its
	// users.
	Growths uint64
	// Rebuilds counts rehashes, compactions and cleanups, also those that other calls started.
	Rebuilds uint64
	// Bytes is the device memory of the structure and its pool, without temporary memory.
	Bytes uint64
	// Kernels is the number of kernels that were made on the structure's device, by all users of the device. Making one
	// may take seconds. Calls after Prepare make none.
	Kernels uint64
}

// Calls counts batches and their operations.
type Calls struct{ Batches, Operations uint64 }
