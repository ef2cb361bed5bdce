using System.Buffers.Binary;
using System.Diagnostics;
using QuickSilver;

namespace StreamNode;

// What one subscription gets: of each sender all numbers, in order, each once, or reported as a gap in its place. They begin at 1. For a
// late subscription they begin at any number.
internal sealed class Intake
{
    private readonly Lock _turn = new();
    private readonly string _name;
    private readonly bool _isLate;
    private readonly Dictionary<NodeId, long> _last = [];
    private readonly TaskCompletionSource _mayRead = new();
    private long _delivered;
    private long _lastAt;
    private TimeSpan _longestPause;
    private long _told;
    private (int Senders, long Count)? _expected;

    public Intake(ITopicSubscriber<ReadOnlyMemory<byte>> topic, bool withReader, bool isLate)
    {
        (_name, _isLate) = (topic.Name, isLate);
        if (withReader)
        {
            _ = ReadAsync(topic);
        }
        else
        {
            topic.SubscribeInline(OnMessage, OnGap);
        }
    }

    /// <summary>The first thing that was wrong.</summary>
    public string? Fault { get; private set; }

    public long Delivered => Volatile.Read(ref _delivered);

    public void Expect(int senders, long count)
    {
        lock (_turn)
        {
            _expected = (senders, count);
            TellIfComplete();
        }
    }

    /// <summary>The longest time without a message since it was last asked for, the one that still lasts included.</summary>
    public TimeSpan TakeLongestPause()
    {
        lock (_turn)
        {
            NoteArrival();
            var pause = _longestPause;
            _longestPause = TimeSpan.Zero;
            return pause;
        }
    }

    public void ReadOn() => _mayRead.SetResult();

    private async Task ReadAsync(ITopicSubscriber<ReadOnlyMemory<byte>> topic)
    {
        await foreach (var message in topic.ReadAllAsync(onGap: OnGap))
        {
            OnMessage(message);
            await _mayRead.Task;
        }
    }

    private void OnMessage(in Message<ReadOnlyMemory<byte>> message)
    {
        long number = BinaryPrimitives.ReadInt64LittleEndian(message.Value.Span);
        lock (_turn)
        {
            NoteArrival();
            long last = Last(message.Sender, number);
            if (number != last + 1)
            {
                Fault ??= $"{number} of {message.Sender} came after {last}";
            }

            _last[message.Sender] = number;
            _delivered++;
            TellIfComplete();
        }
    }

    private void OnGap(GapNotice gap)
    {
        lock (_turn)
        {
            long last = Last(gap.Sender, gap.First);
            if (gap.First != last + 1)
            {
                Fault ??= $"the gap {gap.First}-{gap.Last} of {gap.Sender} was reported after {last}";
            }

            _last[gap.Sender] = gap.Last;
            _told += gap.Count;
            TellIfComplete();
        }
    }

    private long Last(NodeId sender, long next) =>
        _last.TryGetValue(sender, out long last) ? last : _isLate ? next - 1 : 0;

    private void NoteArrival()
    {
        long now = Stopwatch.GetTimestamp();
        var pause = _lastAt == 0 ? TimeSpan.Zero : Stopwatch.GetElapsedTime(_lastAt, now);
        _longestPause = pause > _longestPause ? pause : _longestPause;
        _lastAt = now;
    }

    private void TellIfComplete()
    {
        if (_expected is var (senders, count) && _last.Count >= senders && _delivered + _told >= count)
        {
            _expected = null;
            Say.Line($"has {_name} {_delivered} {_told}");
        }
    }
}
