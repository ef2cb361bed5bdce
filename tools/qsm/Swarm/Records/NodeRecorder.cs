using System.Collections.Immutable;
using System.Diagnostics;
using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Tool.Swarm.Records;

// Writes down what happens at one node, with the machine's monotonic time, which all processes of the machine share. Called by
// the core thread and by the threads that open topics, so it has a lock. Views are written once and then named by their number here.
internal sealed class NodeRecorder(RecordFile file, int number)
{
    private const int BlockBytes = 64 << 10;

    private readonly Lock _lock = new();
    private readonly MemoryStream _block = new();
    private readonly Dictionary<RegionView, int> _views = new(ReferenceEqualityComparer.Instance);
    private readonly List<(Subscription Subscription, long Configuration)> _unsettled = [];
    private readonly TaskCompletionSource _allSettled = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private BinaryWriter? _writer;
    private NodeKey _life;
    private long _settled;
    private int _routes;
    private bool _isAwaited;
    private bool _isClosed;

    /// <summary>Hundred nanoseconds since the machine's start.</summary>
    public static long NowTicks() => Stopwatch.GetElapsedTime(0).Ticks;

    /// <summary>Completes when the service has said that each subscription so far is known to all nodes.</summary>
    public Task AllSettledAsync()
    {
        lock (_lock)
        {
            _isAwaited = true;
            CompleteIfSettled();
        }

        return _allSettled.Task;
    }

    /// <summary>Names a set of views that messages are sent in from now on.</summary>
    public int Routes(ImmutableArray<RegionView> views)
    {
        lock (_lock)
        {
            var numbers = views.Select(NumberOf).ToArray();
            if (Begin(RecordKind.Routes, NowTicks()) is { } writer)
            {
                Write(writer, numbers);
                End();
            }

            return _routes++;
        }
    }

    // The time is from before it was sent: its delivery at this node may come before its number is known.
    public void Published(long atTicks, MessageId message, ulong payloadHash, int routes)
    {
        lock (_lock)
        {
            if (Begin(RecordKind.Published, atTicks) is { } writer)
            {
                Write(writer, message.Sender);
                writer.Write(message.Topic);
                writer.Write(message.Sequence);
                writer.Write(payloadHash);
                writer.Write(routes);
                End();
            }
        }
    }

    public void Delivered(in Subscription subscription, in MessageId message, ulong payloadHash)
    {
        lock (_lock)
        {
            if (Begin(RecordKind.Delivered, NowTicks()) is { } writer)
            {
                Write(writer, subscription);
                Write(writer, message.Sender);
                writer.Write(message.Sequence);
                writer.Write(payloadHash);
                End();
            }
        }
    }

    public void Gap(in Subscription subscription, NodeKey sender, in GapNotice gap)
    {
        lock (_lock)
        {
            if (Begin(RecordKind.Gap, NowTicks()) is { } writer)
            {
                Write(writer, subscription);
                Write(writer, sender);
                writer.Write(gap.First);
                writer.Write(gap.Last);
                End();
            }
        }
    }

    /// <summary>The subscription is in its topic's view from this configuration on. Recorded before it gets a message.</summary>
    public void Activated(in Subscription subscription, long configuration)
    {
        lock (_lock)
        {
            if (Begin(RecordKind.Activated, NowTicks()) is { } writer)
            {
                Write(writer, subscription);
                Write(writer, _life);
                writer.Write(configuration);
                End();
            }

            _unsettled.Add((subscription, configuration));
            SettleDue();
        }
    }

    public void Settled(long configuration)
    {
        lock (_lock)
        {
            _settled = Math.Max(_settled, configuration);
            SettleDue();
        }
    }

    public void Configured(NodeKey life, ConfigurationChange change)
    {
        lock (_lock)
        {
            _life = life;
            var regions = change.Regions.Select(NumberOf).ToArray();
            if (Begin(RecordKind.Configured, NowTicks()) is { } writer)
            {
                Write(writer, life);
                ConfigurationForm.Write(writer, change, regions);
                End();
            }
        }
    }

    /// <summary>The service removed the node: it is owed nothing any more, and owes nothing.</summary>
    public void Stopped()
    {
        lock (_lock)
        {
            if (Begin(RecordKind.Stopped, NowTicks()) is { } writer)
            {
                Write(writer, _life);
                End();
            }
        }
    }

    public void Close()
    {
        lock (_lock)
        {
            if (_writer is not null)
            {
                Flush();
                _writer = null;
            }

            _isClosed = true;
        }
    }

    private static void Write(BinaryWriter writer, NodeKey key)
    {
        writer.Write(key.Id);
        writer.Write(key.Incarnation);
    }

    private static void Write(BinaryWriter writer, in Subscription subscription)
    {
        writer.Write(subscription.Number);
        writer.Write(subscription.Topic);
    }

    private static void Write(BinaryWriter writer, int[] numbers)
    {
        writer.Write(numbers.Length);
        foreach (int one in numbers)
        {
            writer.Write(one);
        }
    }

    private BinaryWriter? Begin(RecordKind kind, long atTicks)
    {
        if (_isClosed)
        {
            return null;
        }

        _writer ??= new BinaryWriter(_block);
        _writer.Write((byte)kind);
        _writer.Write(atTicks);
        return _writer;
    }

    private void End()
    {
        if (_block.Length >= BlockBytes)
        {
            Flush();
        }
    }

    private void Flush()
    {
        _writer!.Flush();
        file.Write(number, _block.GetBuffer().AsSpan(0, (int)_block.Length));
        _block.SetLength(0);
    }

    private int NumberOf(RegionView view)
    {
        if (!_views.TryGetValue(view, out int known))
        {
            _views.Add(view, known = _views.Count);
            if (Begin(RecordKind.View, NowTicks()) is { } writer)
            {
                writer.Write(view.RegionId);
                writer.Write(view.Number);
                writer.Write(view.Configuration);
                writer.Write(view.Members.Length);
                foreach (var member in view.Members)
                {
                    Write(writer, member);
                }

                End();
            }
        }

        return known;
    }

    private void SettleDue()
    {
        foreach (var (subscription, configuration) in _unsettled)
        {
            if (configuration <= _settled && Begin(RecordKind.Subscribed, NowTicks()) is { } writer)
            {
                Write(writer, subscription);
                End();
            }
        }

        _unsettled.RemoveAll(one => one.Configuration <= _settled);
        CompleteIfSettled();
    }

    private void CompleteIfSettled()
    {
        if (_isAwaited && _unsettled.Count == 0)
        {
            _allSettled.TrySetResult();
        }
    }
}
