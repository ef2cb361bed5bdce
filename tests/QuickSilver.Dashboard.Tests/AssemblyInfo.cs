using Xunit.Sdk;
using Xunit.v3;

// A browser and a cluster want both processors of a small machine.
[assembly: Parallelization(Mode = ParallelMode.None)]
