using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Processes.Tests.Lab;

// Scenarios that measure, or that load all processors of a small machine. They run one after the other, and no other scenario and no other
// suite runs beside them.
[CollectionDefinition(nameof(Alone), DisableParallelization = true)]
public sealed class Alone : ICollectionFixture<Alone.Machine>
{
    public sealed class Machine : IAsyncLifetime
    {
        private IAsyncDisposable? _phase;

        public async ValueTask InitializeAsync() => _phase = await TestPhase.AloneAsync();

        public ValueTask DisposeAsync() => _phase?.DisposeAsync() ?? ValueTask.CompletedTask;
    }
}
