using Xunit.Sdk;
using Xunit.v3;

// Each scenario wants both processors of a small machine: side by side they would measure each other.
[assembly: Parallelization(Mode = ParallelMode.None)]
