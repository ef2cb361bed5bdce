using System.Runtime.CompilerServices;
using Microsoft.Extensions.Hosting;

namespace QuickSilver.Simulation.Hosts;

// Starts and stops the hosted services of a host in the order in which a host does it, on the thread of the simulation. A host of the
// framework cannot be used: it continues on the thread pool, and so does a background service from its beginning.
internal sealed class HostStages(SimulatedNode node, IHostedService[] services)
{
    private readonly CancellationTokenSource _stopping = new();
    private readonly List<Task> _running = [];
    // The number of services that were started.
    private int _started;

    public async Task StartAsync()
    {
        foreach (var service in services.OfType<IHostedLifecycleService>())
        {
            await service.StartingAsync(CancellationToken.None);
        }

        foreach (var service in services)
        {
            _started++;
            if (IsRunHere(service))
            {
                Run((BackgroundService)service);
            }
            else
            {
                await service.StartAsync(CancellationToken.None);
            }
        }

        foreach (var service in services.OfType<IHostedLifecycleService>())
        {
            await service.StartedAsync(CancellationToken.None);
        }
    }

    public async Task StopAsync(CancellationToken limit)
    {
        IHostedService[] reversed = [.. services.Take(_started).Reverse()];
        foreach (var service in reversed.OfType<IHostedLifecycleService>())
        {
            await service.StoppingAsync(limit);
        }

        _stopping.Cancel();
        foreach (var service in reversed)
        {
            await service.StopAsync(limit);
        }

        await Task.WhenAll(_running).WaitAsync(limit).ConfigureAwait(
            ConfigureAwaitOptions.ContinueOnCapturedContext | ConfigureAwaitOptions.SuppressThrowing);
        foreach (var service in reversed.OfType<IHostedLifecycleService>())
        {
            await service.StoppedAsync(limit);
        }
    }

    // Its StartAsync would begin on the thread pool. One that replaces that method does so for a reason.
    private static bool IsRunHere(IHostedService service) => service is BackgroundService
        && service.GetType().GetMethod(nameof(BackgroundService.StartAsync), [typeof(CancellationToken)]) is { } start
        && start.DeclaringType == typeof(BackgroundService);

    [UnsafeAccessor(UnsafeAccessorKind.Method, Name = "ExecuteAsync")]
    private static extern Task Execute(BackgroundService service, CancellationToken stopping);

    // Beside the application: its exception fails the run.
    private void Run(BackgroundService service)
    {
        var ended = new TaskCompletionSource();
        _running.Add(ended.Task);
        node.Post(async () =>
        {
            try
            {
                await Execute(service, _stopping.Token);
            }
            catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
            {
            }
            finally
            {
                ended.SetResult();
            }
        });
    }
}
