using QuickSilver.Core.Environment;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Requests;

// The node stood still for so long, until just now, and could not say that it lives.
internal readonly record struct PausedMessage(TimeSpan Length, PauseCause Cause) : IControlMessage, IReadableMessage<PausedMessage>
{
    public int Kind => ControlMessageKind.Paused;

    public void Write(ControlBuffer buffer)
    {
        buffer.UInt64(1, (ulong)Math.Max(0, Math.Round(Length.TotalMilliseconds)));
        buffer.UInt64(2, (ulong)Cause);
    }

    /// <summary>Reads any length, as far as a time can be so long. A cause that this version does not know counts as 0.</summary>
    public static PausedMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        ulong milliseconds = 0;
        ulong cause = 0;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: milliseconds = reader.ReadUInt64(field); break;
                case 2: cause = reader.ReadUInt64(field); break;
                default: reader.Skip(field); break;
            }
        }

        const ulong Most = uint.MaxValue;
        return new PausedMessage(TimeSpan.FromMilliseconds(milliseconds < Most ? milliseconds : Most), Pause.CauseOf(cause));
    }
}
