// Package host has dictionaries in the host's memory with the methods of those in GPU memory, for machines without
// Vulkan and for tests. Map is a hash table and Tree an ordered dictionary. Lookups of large batches, and large
// batches of updates of a Map, are done by all cores; everything else is done by one. For small dictionaries, and for
// batches of less than some thousand keys, they are faster than a GPU.
//
// Several goroutines may use one dictionary: queries run at the same time, and calls that change it run alone
// (structures.Dictionary). Operations of a batch take effect in their order, so equal keys count as
// structures.Updates says. Keys and values are compared and combined as on a GPU: floats in their total order, integers
// modulo 2^width. A key has one value: structures.InsertDuplicate is a *structures.KindError.
package host
