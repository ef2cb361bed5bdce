using System.Globalization;
using System.Text;
using System.Text.Unicode;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Topics;

// The last messages that were delivered to the endpoints of a node, over all its lives, for the report of a failure. It keeps a few, with
// the beginning of each payload, in places that are used again: noting one allocates nothing once all places are taken.
internal sealed class Deliveries(VirtualTime time)
{
    public const int Kept = 10;
    private const int KeptBytes = 40;

    private readonly Entry[] _entries = new Entry[Kept];
    private long _count;

    public void Note(string? topic, in DeliveredMessage message)
    {
        ref var entry = ref _entries[_count++ % Kept];
        entry.At = time.Now;
        entry.Topic = topic ?? message.TopicId.ToString("x", CultureInfo.InvariantCulture);
        entry.Sender = message.Sender;
        entry.Sequence = message.Sequence;
        entry.Length = message.Length;
        message.Span[..Math.Min(KeptBytes, message.Length)].CopyTo(entry.Payload ??= new byte[KeptBytes]);
    }

    /// <summary>A line for each, the oldest first.</summary>
    public IReadOnlyList<string> InWords(Func<NodeKey, string> nameOf)
    {
        var lines = new List<string>(Kept);
        for (long i = Math.Max(0, _count - Kept); i < _count; i++)
        {
            ref readonly var entry = ref _entries[i % Kept];
            string payload = InWords(entry.Payload.AsSpan(0, Math.Min(KeptBytes, entry.Length)), entry.Length);
            lines.Add(string.Create(
                CultureInfo.InvariantCulture,
                $"{entry.At:c} topic \"{entry.Topic}\", message {entry.Sequence} of {nameOf(entry.Sender)}: {payload}"));
        }

        return lines;
    }

    // Text as text, other bytes in hexadecimal. The end of what is kept may be within a character.
    private static string InWords(ReadOnlySpan<byte> begin, int length)
    {
        if (length == 0)
        {
            return "empty";
        }

        string rest = length > begin.Length ? string.Create(CultureInfo.InvariantCulture, $"... ({length} bytes)") : "";
        var text = begin;
        while (length > begin.Length && begin.Length - text.Length < 3 && !Utf8.IsValid(text))
        {
            text = text[..^1];
        }

        return Utf8.IsValid(text) && Encoding.UTF8.GetString(text) is var shown && !shown.Any(char.IsControl)
            ? $"\"{shown}\"{rest}"
            : $"0x{Convert.ToHexString(begin)}{rest}";
    }

    private struct Entry
    {
        public TimeSpan At;
        public string Topic;
        public NodeKey Sender;
        public long Sequence;
        public int Length;
        public byte[]? Payload;
    }
}
