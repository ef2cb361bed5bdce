using Xunit.Sdk;
using Xunit.v3;

// Most scenarios wait for heartbeats and alarms more than they compute, each in namespaces or in a cluster of its own, so three run at a
// time, also of one class. Those that measure are in the collection Alone.
[assembly: Parallelization(Mode = ParallelMode.All, MaxThreads = 3)]
