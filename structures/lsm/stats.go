package lsm

// Stats are an LSM's measures.
type Stats struct {
	Pairs      uint64  // valid ones
	Resident   uint64  // all that the runs hold: valid ones, stale ones and tombstones
	Tombstones uint64  // those not removed yet
	Stale      float64 // the share of Resident that is not valid
	Batch      int     // Options.Batch
	Front      int     // pairs that are not enough for a level
	Levels     []Level // the full ones, the newest first
	Bytes      uint64  // device memory: levels, full and empty, and what merging them and queries take
}

// Level is a full level.
type Level struct {
	Number int // its pairs are Batch << Number
	Pairs  int
}
