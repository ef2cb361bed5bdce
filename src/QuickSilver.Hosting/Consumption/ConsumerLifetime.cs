using Microsoft.Extensions.Hosting;

namespace QuickSilver.Hosting.Consumption;

// Begins the consumers and responders of a node when the host starts the services in the order in which they were added, so that a consumer
// finds what was added before it in operation. Ends them before the host stops any service, since they may use all of them.
internal sealed class ConsumerLifetime(NodeLifetime node) : IHostedLifecycleService
{
    public Task StartingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        node.BeginConsumers();
        return Task.CompletedTask;
    }

    public Task StartedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppingAsync(CancellationToken cancellationToken) => node.StopConsumersAsync(cancellationToken);

    // For a host that calls no StoppingAsync. It does nothing after that.
    public Task StopAsync(CancellationToken cancellationToken) => node.StopConsumersAsync(cancellationToken);

    public Task StoppedAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
