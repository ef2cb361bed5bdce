using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Seeds.Tests.Infrastructure;

// One machine of a cluster and the application on it, over all its lives: what it wants to subscribe to and to publish
// outlives a crash; a life that the service expelled ends itself, and the next one begins a moment later.
internal sealed partial class WholeNode(WholeCluster cluster, SimulatedMachine machine)
{
    private readonly List<Life> _lives = [];

    public SimulatedMachine Machine { get; } = machine;

    public SortedSet<string> Subscriptions { get; } = new(StringComparer.Ordinal);

    public SortedSet<string> Publications { get; } = new(StringComparer.Ordinal);

    public IReadOnlyList<Life> Lives => _lives;

    public Life Current => _lives[^1];

    public bool IsJoined => _lives.Count > 0 && Machine.IsUp && Current.IsJoined;

    /// <summary>Application code runs only while its process does.</summary>
    public bool CanAct => IsJoined && !Machine.IsPaused;

    /// <summary>Everything that this machine's application wants is open, in view and settled.</summary>
    public bool IsInOrder =>
        IsJoined && Subscriptions.All(Current.IsSubscribed) && Publications.All(Current.IsPublishing);

    /// <summary>What is not in order, for a message.</summary>
    public string Wants()
    {
        if (!IsJoined)
        {
            return "not joined";
        }

        string subscriptions = string.Join(", ", Subscriptions.Where(topic => !Current.IsSubscribed(topic)));
        string publications = string.Join(", ", Publications.Where(topic => !Current.IsPublishing(topic)));
        string configuration = $"configuration {Current.Parts.LastConfiguration:x}, settled {Current.Parts.Settled:x}";
        return $"knows {Current.Known} nodes, lacks subscriptions [{subscriptions}], publications [{publications}]; {configuration}; "
            + $"{Current.Parts.Unsettled()}; status: {string.Join("; ", Current.Reasons)}";
    }

    public void Begin()
    {
        var life = new Life(cluster, this);
        _lives.Add(life);
        cluster.Watch(life.RunAsync());
    }

    public void End()
    {
        if (_lives.Count > 0)
        {
            Current.End();
        }
    }

    /// <summary>The application leaves the cluster, and its process is started again a moment after it has ended.</summary>
    public void LeaveAndReturn()
    {
        if (CanAct)
        {
            cluster.Watch(Current.LeaveAsync);
        }
    }

    public bool MayPublish(string topic) => cluster.Setup.Rights?.MayPublish(Machine.Number, TopicId.Of(topic)) ?? true;

    public bool MaySubscribe(string topic) => cluster.Setup.Rights?.MaySubscribe(Machine.Number, TopicId.Of(topic)) ?? true;

    public void Subscribe(string topic)
    {
        if (!MaySubscribe(topic))
        {
            Try(topic, subscribes: true);
            return;
        }

        if (!Machine.IsPaused && Subscriptions.Add(topic) && CanAct)
        {
            cluster.Watch(Current.SubscribeAsync(topic));
        }
    }

    public void Unsubscribe(string topic)
    {
        if (!Machine.IsPaused && Subscriptions.Remove(topic) && CanAct)
        {
            cluster.Watch(Current.UnsubscribeAsync(topic));
        }
    }

    /// <summary>Subscribes, or ends the subscription that there is.</summary>
    public void Toggle(string topic)
    {
        if (Subscriptions.Contains(topic))
        {
            Unsubscribe(topic);
        }
        else
        {
            Subscribe(topic);
        }
    }

    public void Publish(string topic)
    {
        if (!MayPublish(topic))
        {
            Try(topic, subscribes: false);
            return;
        }

        if (!Machine.IsPaused && Publications.Add(topic) && CanAct)
        {
            cluster.Watch(Current.OpenToPublishAsync(topic));
        }
    }

    public void StopPublishing(string topic)
    {
        if (!Machine.IsPaused && Publications.Remove(topic) && CanAct)
        {
            cluster.Watch(Current.StopPublishingAsync(topic));
        }
    }

    // A node that lacks a right gets a refusal.
    private void Try(string topic, bool subscribes)
    {
        if (CanAct)
        {
            cluster.Watch(Current.AskWithoutRightAsync(topic, subscribes));
        }
    }

    private sealed class OpenSubscription(ITopicSubscriber<ReadOnlyMemory<byte>> endpoint, Subscription subscription, long configuration)
    {
        public ITopicSubscriber<ReadOnlyMemory<byte>> Endpoint { get; } = endpoint;

        public Subscription Subscription { get; } = subscription;

        public long Configuration { get; set; } = configuration;

        public bool IsSettled { get; set; }
    }
}
