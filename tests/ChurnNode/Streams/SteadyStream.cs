using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using QuickSilver;

namespace ChurnNode.Streams;

// The stream of one member that stays, as another one receives it: each number once and in order from the first, and how long nothing came.
internal sealed class SteadyStream
{
    private static readonly double LongGapMilliseconds = 20;

    private readonly ITopicSubscriber<ReadOnlyMemory<byte>> _topic;
    private readonly int _stayer;
    private readonly ConcurrentQueue<string> _says;
    private long _last;
    private long _received;
    private long _lastAt;
    private string? _fault;

    private SteadyStream(ITopicSubscriber<ReadOnlyMemory<byte>> topic, int stayer, ConcurrentQueue<string> says)
    {
        (_topic, _stayer, _says) = (topic, stayer, says);
        topic.SubscribeInline(OnMessage, gap => _fault ??= $"gap {gap.First}-{gap.Last} after {_last}: {gap.Reason}");
    }

    /// <param name="node">The node.</param>
    /// <param name="stayer">Whose stream it is.</param>
    /// <param name="says">Gets a line for each gap of time: PAUSE STAYER MILLISECONDS END, with the end in ticks of the machine.</param>
    public static async Task<SteadyStream> OpenAsync(QuickSilverNode node, int stayer, ConcurrentQueue<string> says) =>
        new(await node.OpenSubscriberAsync<ReadOnlyMemory<byte>>(Topics.Steady(stayer)), stayer, says);

    public int Stayer => _stayer;

    /// <summary>For how long nothing has come; zero before the first message. From any thread.</summary>
    public TimeSpan Silence => Volatile.Read(ref _lastAt) is > 0 and var at ? Stopwatch.GetElapsedTime(at) : TimeSpan.Zero;

    public async Task<SteadyReport> CloseAsync()
    {
        await _topic.DisposeAsync();
        return new SteadyReport(_stayer, _last, _received, _fault);
    }

    // On the core thread.
    private void OnMessage(in Message<ReadOnlyMemory<byte>> message)
    {
        long now = Stopwatch.GetTimestamp();
        long number = BinaryPrimitives.ReadInt64LittleEndian(message.Value.Span);
        if (number != _last + 1)
        {
            _fault ??= $"{number} came after {_last}";
        }

        if (_lastAt != 0 && Stopwatch.GetElapsedTime(_lastAt, now).TotalMilliseconds is var gap && gap >= LongGapMilliseconds)
        {
            _says.Enqueue(string.Create(CultureInfo.InvariantCulture, $"pause {_stayer} {gap:F1} {now}"));
        }

        _last = number;
        Volatile.Write(ref _lastAt, now);
        _received++;
    }
}
