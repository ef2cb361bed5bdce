using System.Globalization;
using System.Text;
using System.Text.Unicode;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Dynamic;
using QuickSilver.Simulation.Machines.Time;

namespace QuickSilver.Simulation.Topics;

// The last messages that were delivered to the endpoints of a node, over all its lives, for the report of a failure. It keeps a few, with
// the beginning of each payload, in places that are used again: noting one allocates nothing once all places are taken and large enough.
internal sealed class Deliveries(VirtualTime time)
{
    public const int Kept = 10;
    private const int KeptBytes = 40;
    // Of a message with fields, which can be shown only as a whole.
    private const int KeptFieldBytes = 512;
    private const int MostFieldCharacters = 300;

    private readonly Entry[] _entries = new Entry[Kept];
    private long _count;

    public void Note(string? topic, ContractDescription? contract, in DeliveredMessage message)
    {
        ref var entry = ref _entries[_count++ % Kept];
        entry.At = time.Now;
        entry.Topic = topic ?? message.TopicId.ToString("x", CultureInfo.InvariantCulture);
        entry.Sender = message.Sender;
        entry.Sequence = message.Sequence;
        entry.Length = message.Length;
        entry.Contract = contract is { Kind: PayloadSchema.MessageKind } && message.Length <= KeptFieldBytes ? contract : null;
        int kept = entry.Contract is null ? Math.Min(KeptBytes, message.Length) : message.Length;
        if (entry.Payload is null || entry.Payload.Length < kept)
        {
            entry.Payload = new byte[Math.Max(KeptBytes, kept)];
        }

        message.Span[..kept].CopyTo(entry.Payload);
    }

    /// <summary>A line for each, the oldest first.</summary>
    public IReadOnlyList<string> InWords(Func<NodeKey, string> nameOf)
    {
        var lines = new List<string>(Kept);
        for (long i = Math.Max(0, _count - Kept); i < _count; i++)
        {
            ref readonly var entry = ref _entries[i % Kept];
            string payload = Fields(entry)
                ?? InWords(entry.Payload.AsSpan(0, Math.Min(KeptBytes, entry.Length)), entry.Length);
            lines.Add(string.Create(
                CultureInfo.InvariantCulture,
                $"{entry.At:c} topic \"{entry.Topic}\", message {entry.Sequence} of {nameOf(entry.Sender)}: {payload}"));
        }

        return lines;
    }

    // As JSON; null if the payload is not kept as a whole, has no fields, or is malformed.
    private static string? Fields(in Entry entry)
    {
        if (entry.Contract is not { } contract)
        {
            return null;
        }

        try
        {
            using var reader = new PayloadToJson(new DynamicSchema(SchemaContract.SchemaOf(contract)));
            string fields = Encoding.UTF8.GetString(reader.Convert(entry.Payload.AsSpan(0, entry.Length)).Span);
            return fields.Length <= MostFieldCharacters ? fields : $"{fields[..MostFieldCharacters]}...";
        }
        catch (PayloadFormatException)
        {
            return null;
        }
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
        // Null unless all of the payload is kept, and has fields.
        public ContractDescription? Contract;
        public byte[]? Payload;
    }
}
