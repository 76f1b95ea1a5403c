package lsm

// Stats has the sizes of an LSM.
type Stats struct {
	Pairs      uint64  // valid pairs
	Resident   uint64  // all pairs in the runs: valid ones, stale ones and tombstones
	Tombstones uint64  // tombstones in the runs
	Stale      float64 // the share of Resident that is not valid
	Batch      int     // Options.Batch
	Front      int     // pairs in the front, a run shorter than a level
	Levels     []Level // full levels, the newest first
	Bytes      uint64  // device memory: of full and empty levels, and for merges and queries
}

// Level is a full level.
type Level struct {
	Number int // it has Batch << Number pairs
	Pairs  int
}
