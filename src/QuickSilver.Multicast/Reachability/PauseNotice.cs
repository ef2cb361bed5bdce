using System.Buffers.Binary;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Wire;

namespace QuickSilver.Multicast.Reachability;

// The body of a Pause packet: u32 how long the sender stood still in milliseconds, u32 how long ago that ended in milliseconds, u8 what
// held it up, three bytes 0. It concerns no view. The header's sequence is the number of the notice, counted by its sender.
internal readonly record struct PauseNotice(TimeSpan Length, TimeSpan Ago, PauseCause Cause)
{
    public const int Bytes = PacketHeader.Bytes + BodyBytes;
    private const int BodyBytes = 12;

    public void Write(Span<byte> packet, in PacketTemplate template, long number)
    {
        template.Write(packet, PacketKind.Pause, PacketFlags.None, number, 0, 0);
        var body = packet[PacketHeader.Bytes..];
        BinaryPrimitives.WriteUInt32LittleEndian(body, Milliseconds(Length));
        BinaryPrimitives.WriteUInt32LittleEndian(body[4..], Milliseconds(Ago));
        BinaryPrimitives.WriteUInt32LittleEndian(body[8..], (byte)Cause);
        PacketTemplate.Seal(packet[..Bytes]);
    }

    /// <summary>Reads any times. A cause that this version does not know counts as 0.</summary>
    public static bool TryRead(ReadOnlySpan<byte> body, out PauseNotice notice)
    {
        notice = default;
        if (body.Length < BodyBytes)
        {
            return false;
        }

        notice = new PauseNotice(
            TimeSpan.FromMilliseconds(BinaryPrimitives.ReadUInt32LittleEndian(body)),
            TimeSpan.FromMilliseconds(BinaryPrimitives.ReadUInt32LittleEndian(body[4..])),
            Pause.CauseOf(body[8]));
        return true;
    }

    private static uint Milliseconds(TimeSpan time) => (uint)Math.Clamp(Math.Round(time.TotalMilliseconds), 0, uint.MaxValue);
}
