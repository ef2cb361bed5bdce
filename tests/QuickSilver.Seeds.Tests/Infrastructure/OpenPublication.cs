using QuickSilver.Feeds;
using QuickSilver.Simulation.Machines;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Seeds.Tests.Infrastructure;

// An endpoint that publishes, and what was accepted of it. Where the seed says so, it is used in all the ways that there are: some messages
// are waited for until they are stable, some come from a feed, some are given up while they wait; and it ends drained, cancelled or just
// closed, whatever waits then.
internal sealed class OpenPublication : IMessageFeed<ReadOnlyMemory<byte>>
{
    private const double StableShare = 0.2;
    private const double FeedShare = 0.3;
    private const double GivingUpShare = 0.1;
    private const int LongestFeed = 20;

    private readonly WholeCluster _cluster;
    private readonly Func<long> _taken;
    private readonly SeededRandom? _habits;
    private readonly Queue<byte[]> _fed = new();
    private readonly IAttachedFeed? _feed;
    private readonly long _takenBefore;
    private CancellationTokenSource? _giveUp;
    private ValueTask _last;
    // What the feed gave, and what of it is said to be stable.
    private long _given;
    private long _stable;
    private bool _hasEnded;
    private bool _isWaiting;
    private TimeSpan _waitsSince;
    private long _takenAtLook = -1;
    private TimeSpan _stuckSince;

    /// <param name="cluster">Whose hardships say how it is used.</param>
    /// <param name="topic">Its name.</param>
    /// <param name="endpoint">Of the node.</param>
    /// <param name="taken">How many messages of the topic the multicast layer has taken in this life.</param>
    /// <param name="habits">What its use is drawn from.</param>
    public OpenPublication(
        WholeCluster cluster, string topic, ITopicPublisher<ReadOnlyMemory<byte>> endpoint, Func<long> taken, SeededRandom habits)
    {
        _cluster = cluster;
        _taken = taken;
        _takenBefore = taken();
        _habits = cluster.Setup.Hardships.HasFlag(Hardships.StableAndFeeds) || cluster.Setup.Hardships.HasFlag(Hardships.Endings)
            ? habits
            : null;
        Topic = topic;
        Endpoint = endpoint;
        if (cluster.Setup.Hardships.HasFlag(Hardships.StableAndFeeds) && habits.Chance(FeedShare))
        {
            _feed = endpoint.AttachFeed(this);
        }
    }

    public string Topic { get; }

    public ITopicPublisher<ReadOnlyMemory<byte>> Endpoint { get; }

    /// <summary>Publishes that are to complete when they are stable, and have not.</summary>
    public int AwaitingStable { get; private set; }

    private long Accepted { get; set; }

    private long Taken => _taken() - _takenBefore;

    private bool HasEndings => _cluster.Setup.Hardships.HasFlag(Hardships.Endings);

    public bool Pull(IFeedWriter<ReadOnlyMemory<byte>> writer)
    {
        while (writer.CanWrite && _fed.TryDequeue(out byte[]? next))
        {
            writer.Write(next);
            _given++;
            Accepted++;
        }

        return _fed.Count > 0;
    }

    public void OnStable(long through)
    {
        Check(!_hasEnded && through > _stable && through <= _given, $"{through} are stable, after {_stable} of {_given}");
        _stable = through;
    }

    public void OnEnded(Exception? reason)
    {
        Check(!_hasEnded && (reason is not null || _stable == _given), $"it ended twice, or with {_stable} of {_given} stable");
        _hasEnded = true;
    }

    /// <summary>Publishes, unless its last message still waits for room.</summary>
    public bool TryPublish(ReadOnlyMemory<byte> payload)
    {
        if (_isWaiting && !_last.IsCompleted)
        {
            if (_habits is not null && HasEndings && _habits.Chance(GivingUpShare))
            {
                _giveUp?.Cancel();
            }

            return false;
        }

        Settle();
        if (_feed is not null)
        {
            return TryFeed(payload);
        }

        if (_habits is not null && _cluster.Setup.Hardships.HasFlag(Hardships.StableAndFeeds) && _habits.Chance(StableShare))
        {
            Accepted++;
            AwaitingStable++;
            _cluster.Watch(() => AwaitStableAsync(payload));
            return true;
        }

        // Polled, not awaited: a call that waits for room continues when the application looks again.
        _giveUp = HasEndings ? new CancellationTokenSource() : null;
        try
        {
            _last = Endpoint.PublishAsync(payload, _giveUp?.Token ?? default);
        }
        catch (MessageTooLargeException)
        {
            // For the regions that the topic has now.
            return false;
        }

        Accepted++;
        _isWaiting = true;
        _waitsSince = _cluster.Simulation.Now;
        if (_last.IsCompleted)
        {
            Settle();
        }

        return true;
    }

    /// <summary>Since when its publisher, or what it published, waits to be taken; null: nothing waits.</summary>
    public TimeSpan? WaitsSince()
    {
        long taken = Taken;
        bool isPending = taken < Accepted || (_isWaiting && !_last.IsCompleted) || _fed.Count > 0;
        if (!isPending || taken != _takenAtLook)
        {
            _takenAtLook = taken;
            _stuckSince = _cluster.Simulation.Now;
        }

        if (_isWaiting && !_last.IsCompleted && _waitsSince < _stuckSince)
        {
            return _waitsSince;
        }

        return isPending ? _stuckSince : null;
    }

    /// <summary>What was accepted from the application but never handed to the network, as a sentence; null when nothing.</summary>
    public string? Unsent()
    {
        if (_isWaiting && _last.IsCompleted)
        {
            Settle();
        }

        string? stable = AwaitingStable > 0 ? $"{AwaitingStable} publishes to {Topic} still wait to be stable" : null;
        return Taken != Accepted ? $"accepted {Accepted} messages for {Topic}, and sent {Taken}" : stable;
    }

    public async Task CloseAsync(TimeProvider time)
    {
        _feed?.Dispose();
        switch (_habits is not null && HasEndings ? _habits.Below(3) : -1)
        {
            case 0:
                await DrainAsync(time);
                break;
            case 1:
                Endpoint.Cancel();
                break;
            default:
                break;
        }

        await Endpoint.DisposeAsync();
    }

    private async Task DrainAsync(TimeProvider time)
    {
        if (await DrainWithin.LimitAsync(_habits!.UpTo(TimeSpan.FromSeconds(2)), Endpoint.DrainAsync, time))
        {
            // A call that waited for a message to be stable continues in its own event.
            _cluster.Simulation.After(TimeSpan.Zero, RequireDrained);
        }
    }

    private void RequireDrained()
    {
        if (Taken != Accepted || AwaitingStable > 0 || _stable < _given)
        {
            string waits = $"{Accepted} accepted, {Taken} sent, {AwaitingStable + _given - _stable} not stable";
            Fail($"An endpoint of {Topic} said that it is drained: {waits}.");
        }
    }

    // What a feed throws would only be counted.
    private void Check(bool holds, string told)
    {
        if (!holds)
        {
            Fail($"The feed of {Topic} got the report that {told}.");
        }
    }

    private void Fail(string sentence) => _cluster.Watch(Task.FromException(new InvalidOperationException(sentence)));

    private bool TryFeed(ReadOnlyMemory<byte> payload)
    {
        if (_fed.Count >= LongestFeed)
        {
            return false;
        }

        _fed.Enqueue(payload.ToArray());
        _feed!.Signal();
        return true;
    }

    private async Task AwaitStableAsync(ReadOnlyMemory<byte> payload)
    {
        try
        {
            await Endpoint.PublishAsync(payload, PublishCompletion.Stable);
        }
        catch (Exception exception)
            when (exception is NodeExpelledException or ObjectDisposedException or OperationCanceledException or MessageTooLargeException)
        {
            // Closed or cancelled before, or too large for the regions that the topic has now.
        }
        finally
        {
            AwaitingStable--;
        }
    }

    private void Settle()
    {
        if (!_isWaiting)
        {
            return;
        }

        _isWaiting = false;
        try
        {
            _last.GetAwaiter().GetResult();
        }
        catch (OperationCanceledException) when (_giveUp is { IsCancellationRequested: true })
        {
            // Given up before it was accepted: it is not published.
            Accepted--;
        }
    }
}
