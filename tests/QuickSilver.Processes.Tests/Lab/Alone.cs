namespace QuickSilver.Processes.Tests.Lab;

// Scenarios that measure, or that load all processors of a small machine. They run one after the other, and no other scenario runs beside
// them.
[CollectionDefinition(nameof(Alone), DisableParallelization = true)]
public sealed class Alone;
