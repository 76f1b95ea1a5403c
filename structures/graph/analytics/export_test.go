package analytics

// Tests have parts of few workgroups, which would take graphs of millions of edges otherwise.
func init() { groupsAPart = 3 }
