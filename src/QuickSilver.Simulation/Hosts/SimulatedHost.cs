using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using QuickSilver.Composition;
using QuickSilver.Simulation.Hosts;

namespace QuickSilver.Simulation;

/// <summary>
/// A host in the process of a <see cref="SimulatedNode"/>, with its services in virtual time. Use it from code that the simulation runs.
/// </summary>
public sealed class SimulatedHost : IAsyncDisposable
{
    // That of a host by default.
    private static readonly TimeSpan ShutdownTimeout = TimeSpan.FromSeconds(30);

    private readonly ServiceProvider _services;
    private readonly HostStages _stages;
    private readonly SimulatedLifetime _lifetime;
    private readonly TimeProvider _time;
    private Task? _stop;

    private SimulatedHost(SimulatedNode node, ServiceProvider services, SimulatedLifetime lifetime)
    {
        _services = services;
        _lifetime = lifetime;
        _time = node.Time;
        _stages = new HostStages(node, [.. services.GetServices<IHostedService>()]);
    }

    /// <summary>The services.</summary>
    public IServiceProvider Services => _services;

    /// <summary>
    /// Stops the host in order, as a process that gets SIGTERM: consumers end after what they have taken, services stop in the reverse of
    /// the order in which they started, and the node is drained and ends. Each call returns the same task.
    /// </summary>
    public Task StopAsync() => _stop ??= EndAsync();

    /// <summary>Stops the host and disposes its services.</summary>
    public async ValueTask DisposeAsync()
    {
        await StopAsync();
        await _services.DisposeAsync();
    }

    internal static async Task<SimulatedHost> StartAsync(
        SimulatedNode owner, QuickSilverNode node, SimulatedCluster cluster, Action<IServiceCollection> configure)
    {
        var lifetime = new SimulatedLifetime();
        var services = new ServiceCollection();
        services.AddSingleton(typeof(ILogger<>), typeof(Logger<>));
        services.AddSingleton<ILoggerFactory>(cluster.Logs);
        configure(services);
        // After the application's own: with these, no two runs would be alike.
        services.Replace(ServiceDescriptor.Singleton(owner.Time));
        services.Replace(ServiceDescriptor.Singleton<IHostApplicationLifetime>(lifetime));
        services.Replace(ServiceDescriptor.Singleton<NodeStarter>(new GivenNode(owner, node, cluster).StartAsync));
        var provider = services.BuildServiceProvider(new ServiceProviderOptions { ValidateScopes = true });
        provider.GetService<IStartupValidator>()?.Validate();
        var host = new SimulatedHost(owner, provider, lifetime);
        await host._stages.StartAsync();
        lifetime.NotifyStarted();
        return host;
    }

    private async Task EndAsync()
    {
        using var limit = new CancellationTokenSource(ShutdownTimeout, _time);
        _lifetime.StopApplication();
        await _stages.StopAsync(limit.Token);
        _lifetime.NotifyStopped();
    }
}
