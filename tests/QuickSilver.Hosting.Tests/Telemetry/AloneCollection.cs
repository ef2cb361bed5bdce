namespace QuickSilver.Hosting.Tests.Telemetry;

// Tests that listen to what the whole process does. They run when no other test does: they would hear its messages, and what they export is
// sent by the thread that published, which a simulation takes for code that escapes it.
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class AloneCollection
{
    public const string Name = "alone";
}
