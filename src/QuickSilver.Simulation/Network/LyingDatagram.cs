using System.Buffers.Binary;
using QuickSilver.Core.Wire;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Network;

// What a member sends that counts wrong or means harm: a control packet of its own, sealed as it must be, in which one number is not what
// it should be. It speaks in its own name only: a process that speaks in another's is no member but a forger, against which only keys help.
internal static class LyingDatagram
{
    private const int LongBytes = sizeof(long);
    private const int WordBytes = sizeof(uint);

    // The numbers in the body of each kind, by offset: those that name no node.
    private static readonly (int Offset, int Bytes)[] OfToken = [(0, LongBytes), (20, LongBytes), (28, LongBytes)];
    private static readonly (int Offset, int Bytes)[] OfPull =
        [(PacketHeader.SequenceOffset - PacketHeader.Bytes, LongBytes), (14, LongBytes), (22, WordBytes)];
    private static readonly (int Offset, int Bytes)[] OfAck =
        [(12, LongBytes), (20, LongBytes), (28, LongBytes), (36, LongBytes), (44, LongBytes)];

    /// <summary>Makes a lie of a datagram; false, and nothing is changed: of this one none is made.</summary>
    public static bool TryMake(Span<byte> datagram, SeededRandom random)
    {
        if (datagram.Length < PacketHeader.Bytes || datagram[PacketHeader.VersionOffset] != PacketHeader.CurrentVersion)
        {
            return false;
        }

        if (SealedForgery.IsSealed(datagram))
        {
            // Without the key, every lie is a forgery.
            SealedForgery.Make(datagram, random);
            return true;
        }

        (int Offset, int Bytes)[] numbers = (PacketKind)datagram[PacketHeader.KindOffset] switch
        {
            PacketKind.Announce => [(PacketHeader.SequenceOffset - PacketHeader.Bytes, LongBytes)],
            PacketKind.Token => OfToken,
            PacketKind.Pull => OfPull,
            PacketKind.Ack => OfAck,
            _ => [],
        };
        if (numbers.Length == 0)
        {
            return false;
        }

        var (offset, bytes) = numbers[random.Below(numbers.Length)];
        int at = PacketHeader.Bytes + offset;
        int length = new PacketHeader(datagram).Length;
        if (at + bytes > length || length > datagram.Length)
        {
            return false;
        }

        var number = datagram.Slice(at, bytes);
        if (bytes == LongBytes)
        {
            BinaryPrimitives.WriteInt64LittleEndian(number, Absurd(BinaryPrimitives.ReadInt64LittleEndian(number), random));
        }
        else
        {
            BinaryPrimitives.WriteUInt32LittleEndian(number, (uint)Absurd(BinaryPrimitives.ReadUInt32LittleEndian(number), random));
        }

        PacketTemplate.Seal(datagram[..length]);
        return true;
    }

    // Near the truth or far from it: bounds are passed by one as well as by all.
    private static long Absurd(long truth, SeededRandom random) => random.Below(6) switch
    {
        0 => long.MaxValue,
        1 => long.MinValue,
        2 => -1,
        3 => 0,
        4 => unchecked(truth - (1L << random.Below(63))),
        _ => unchecked(truth + (1L << random.Below(63))),
    };
}
