using System.Buffers.Binary;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Network;
using static QuickSilver.Processes.Tests.Campaigns.WirePacket;

namespace QuickSilver.Processes.Tests.Campaigns.Outsider;

// What an outsider sends.
internal enum ForgeryKind
{
    Noise,
    // Recorded some time ago, and sent again unchanged.
    Replay,
    // Heard a moment ago, and sent again unchanged.
    FreshReplay,
    RaisedSequence,
    ChangedHeader,
    ChangedBody,
    CutShort,
    // As another cluster of the same name seals its packets.
    OtherKey,
    // Without a seal, and right in every other way.
    Unsealed,
}

// Makes packets of what was recorded.
internal sealed class Forgery(Random random)
{
    private const int TrailerBytes = 36;

    public byte[] Make(ForgeryKind kind, UdpSample sample) => kind switch
    {
        ForgeryKind.Noise => BadPacket.Noise(random, random.Next(1, 1473)),
        ForgeryKind.RaisedSequence => Raised(sample.Payload),
        ForgeryKind.ChangedHeader => Flipped(sample.Payload, 0, Math.Min(HeaderBytes, sample.Payload.Length)),
        ForgeryKind.ChangedBody => Flipped(sample.Payload, Math.Min(HeaderBytes, sample.Payload.Length - 1), sample.Payload.Length),
        ForgeryKind.CutShort => sample.Payload[..random.Next(sample.Payload.Length)],
        ForgeryKind.Unsealed => Unsealed(sample.Payload),
        _ => sample.Payload,
    };

    private byte[] Raised(byte[] payload)
    {
        byte[] raised = [.. payload];
        var at = raised.AsSpan(SequenceAt);
        BinaryPrimitives.WriteInt64LittleEndian(at, BinaryPrimitives.ReadInt64LittleEndian(at) + random.Next(1, 1000));
        return raised;
    }

    private byte[] Flipped(byte[] payload, int from, int to)
    {
        byte[] flipped = [.. payload];
        flipped[random.Next(from, to)] ^= (byte)(1 << random.Next(8));
        return flipped;
    }

    private byte[] Unsealed(byte[] payload)
    {
        if (payload.Length < HeaderBytes + TrailerBytes)
        {
            return BadPacket.Noise(random, HeaderBytes);
        }

        byte[] plain = payload[..^TrailerBytes];
        random.NextBytes(plain.AsSpan(HeaderBytes));
        BinaryPrimitives.WriteUInt16LittleEndian(plain.AsSpan(LengthAt), (ushort)plain.Length);
        BinaryPrimitives.WriteUInt32LittleEndian(plain.AsSpan(EpochAt), 0);
        plain[TagBytesAt] = 0;
        WriteChecksum(plain);
        return plain;
    }
}
