using System.Buffers.Binary;
using static QuickSilver.Processes.Tests.Campaigns.WirePacket;

namespace QuickSilver.Processes.Tests.Campaigns.Liar;

// The lies of a member: control packets of its own, whole in every other way, in which a number is not what it is. It speaks in its own
// name only. Called by the thread of the switch.
internal sealed class MemberLies(int percent)
{
    private const int LongBytes = sizeof(long);
    private const int WordBytes = sizeof(uint);

    // The numbers of each kind that name no node, by offset: of an announcement, a token, a pull, an acknowledgement and a credit.
    private static readonly Dictionary<byte, (int At, int Bytes)[]> Numbers = new()
    {
        [2] = [(SequenceAt, LongBytes)],
        [3] = [(HeaderBytes, LongBytes), (HeaderBytes + 20, LongBytes), (HeaderBytes + 28, LongBytes)],
        [4] = [(SequenceAt, LongBytes), (HeaderBytes + 14, LongBytes), (HeaderBytes + 22, WordBytes)],
        [5] =
        [
            (HeaderBytes + 12, LongBytes), (HeaderBytes + 20, LongBytes), (HeaderBytes + 28, LongBytes), (HeaderBytes + 36, LongBytes),
            (HeaderBytes + 44, LongBytes),
        ],
        [8] = [(SequenceAt, LongBytes), (HeaderBytes + 10, LongBytes)],
    };

    private readonly Random _random = new(20_27);
    private readonly long[] _ofKind = new long[256];

    /// <summary>Whether it lies. If not, the same packets are written again unchanged.</summary>
    public bool IsOn { get; set; }

    public long Count => _ofKind.Sum();

    /// <summary>The lies by the number of the packet's kind.</summary>
    public string Kinds => string.Join(", ", Numbers.Keys.Order().Select(kind => $"kind {kind} {_ofKind[kind]}"));

    /// <summary>Changes a number of a control packet, or does not.</summary>
    public bool Change(Span<byte> packet)
    {
        if (packet.Length < HeaderBytes || !Numbers.TryGetValue(packet[KindAt], out var numbers) || packet[TagBytesAt] != 0
            || _random.Next(100) >= percent)
        {
            return false;
        }

        int length = BinaryPrimitives.ReadUInt16LittleEndian(packet[LengthAt..]);
        var (at, bytes) = numbers[_random.Next(numbers.Length)];
        if (length > packet.Length || at + bytes > length)
        {
            return false;
        }

        var number = packet.Slice(at, bytes);
        if (IsOn)
        {
            _ofKind[packet[KindAt]]++;
        }

        if (bytes == LongBytes)
        {
            long truth = BinaryPrimitives.ReadInt64LittleEndian(number);
            BinaryPrimitives.WriteInt64LittleEndian(number, IsOn ? Absurd(truth) : truth);
        }
        else
        {
            uint truth = BinaryPrimitives.ReadUInt32LittleEndian(number);
            BinaryPrimitives.WriteUInt32LittleEndian(number, IsOn ? (uint)Absurd(truth) : truth);
        }

        WriteChecksum(packet[..length]);
        return true;
    }

    // Near the truth or far from it: bounds are passed by one as well as by all.
    private long Absurd(long truth) => _random.Next(6) switch
    {
        0 => long.MaxValue,
        1 => long.MinValue,
        2 => -1,
        3 => 0,
        4 => unchecked(truth - (1L << _random.Next(63))),
        _ => unchecked(truth + (1L << _random.Next(63))),
    };
}
