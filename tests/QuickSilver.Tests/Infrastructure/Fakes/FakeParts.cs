using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Composition;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast;
using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Tests.Infrastructure.Fakes;

// A node over fakes. The environment decides whether the core thread is a thread or the test itself.
internal sealed class FakeParts(bool threaded = true) : INodeParts, IAsyncDisposable
{
    public TestEnvironment Core { get; } = new(threaded);

    public FakeMembership Service { get; } = new();

    public FakeMulticast Wire { get; } = new();

    public ManualTime Time { get; } = new();

    public bool Joins { get; set; } = true;

    public Exception? BeginFault { get; set; }

    public bool IsStopped { get; private set; }

    public INodeEnvironment Environment => Core;

    public IMembership Membership => Service;

    public IMulticast Multicast => Wire;

    public TopicProtocols Protocols { get; init; } = TopicProtocols.BuiltIn;

    public TimeProvider OutsideTime => Time;

    public void Begin(IMembershipObserver observer)
    {
        if (BeginFault is { } fault)
        {
            throw fault;
        }

        Service.Observer = observer;
        if (Joins)
        {
            observer.OnServiceReachable(true);
        }
    }

    public TopicView? ViewOf(ulong topicId) => Service.ViewOf(topicId);

    public bool IsServiceHosted { get; init; }

    public string? LastRefusal { get; init; }

    public string? LastFailure { get; init; }

    public IReadOnlyList<Trouble> Troubles { get; set; } = [];

    public Trouble? Isolation { get; set; }

    public int Members { get; set; }

    public LayerCounters Counters { get; init; } = new();

    public bool IsSegmented { get; init; }

    public Task StopAsync()
    {
        IsStopped = true;
        Core.Stop();
        return Task.CompletedTask;
    }

    /// <summary>Starts a node; with a manual core, pumps until it has.</summary>
    public async Task<QuickSilverNode> StartAsync(QuickSilverOptions? options = null, ILoggerFactory? logs = null)
    {
        var starting = QuickSilverNode.StartAsync(this, options ?? new QuickSilverOptions(), logs ?? NullLoggerFactory.Instance, default);
        return await Settle(starting);
    }

    public async Task<ITopic<T>> OpenAsync<T>(QuickSilverNode node, string name, TopicOptions? options = null) =>
        await Settle(node.OpenTopicAsync<T>(name, options));

    public async Task<ITopicPublisher<T>> OpenPublisherAsync<T>(QuickSilverNode node, string name, TopicOptions? options = null) =>
        await Settle(node.OpenPublisherAsync<T>(name, options));

    public async Task<ITopicSubscriber<T>> OpenSubscriberAsync<T>(QuickSilverNode node, string name, TopicOptions? options = null) =>
        await Settle(node.OpenSubscriberAsync<T>(name, options));

    /// <summary>Awaits what needs the core thread; with a manual core, by being it.</summary>
    public async Task<TResult> Settle<TResult>(Task<TResult> task)
    {
        while (!Core.IsThreaded && !task.IsCompleted)
        {
            Core.Pump();
            await Task.Yield();
        }

        return await task;
    }

    public FakeSender SenderOf(string topic) => Wire.Senders[TopicId.Of(topic)];

    public FakeReceiver ReceiverOf(string topic) => Wire.Receivers[TopicId.Of(topic)];

    public ValueTask DisposeAsync()
    {
        Core.Dispose();
        return ValueTask.CompletedTask;
    }
}
