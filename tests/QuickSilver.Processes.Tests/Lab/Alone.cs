using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Processes.Tests.Lab;

// Scenarios that measure, or that load all processors of a small machine. They run one after the other, and no other scenario and no other
// suite runs beside them.
[CollectionDefinition(nameof(Alone), DisableParallelization = true)]
public sealed class Alone : ICollectionFixture<Alone.Machine>
{
    public sealed class Machine : IDisposable
    {
        private readonly IDisposable _phase = TestPhase.Alone();

        public void Dispose() => _phase.Dispose();
    }
}
