using Microsoft.Extensions.Hosting;

namespace QuickSilver.Simulation.Hosts;

// The lifetime of a simulated host, as its services see it.
internal sealed class SimulatedLifetime : IHostApplicationLifetime
{
    private readonly CancellationTokenSource _started = new();
    private readonly CancellationTokenSource _stopping = new();
    private readonly CancellationTokenSource _stopped = new();

    public CancellationToken ApplicationStarted => _started.Token;

    public CancellationToken ApplicationStopping => _stopping.Token;

    public CancellationToken ApplicationStopped => _stopped.Token;

    public void StopApplication() => _stopping.Cancel();

    public void NotifyStarted() => _started.Cancel();

    public void NotifyStopped() => _stopped.Cancel();
}
