using System.Buffers;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Network;

// What a member sends to the membership service that means harm (F22): messages of its own, well-formed, in which a number is far higher
// than it is. A service that takes the highest number of all nodes for its own goes wrong by one of them. Those that only lower a number
// are not changed, and neither are identities: see LyingDatagram.
internal static class RaisedMessage
{
    private const int LeastShift = 8;

    /// <summary>The same frames, with each number raised that may be.</summary>
    public static byte[] Of(ReadOnlySpan<byte> frames, SeededRandom random)
    {
        var raised = new ArrayBufferWriter<byte>(frames.Length);
        var message = new ControlBuffer();
        var rest = frames;
        const int Most = ControlFrame.MaxFromClientBytes;
        while (ControlFrame.TryCut(rest, Most, out int kind, out var body, out int bytes) == FrameOutcome.Complete)
        {
            message.Clear();
            raised.Write(TryAppend(message, kind, body, random) ? message.Written : rest[..bytes]);
            rest = rest[bytes..];
        }

        raised.Write(rest);
        return raised.WrittenSpan.ToArray();
    }

    private static bool TryAppend(ControlBuffer buffer, int kind, ReadOnlySpan<byte> body, SeededRandom random)
    {
        switch (kind)
        {
            case ControlMessageKind.Join:
                var join = JoinMessage.Read(body);
                ControlFrame.Append(buffer, join with
                {
                    Known = Raise(join.Known, random),
                    Confirmed = Raise(join.Confirmed, random),
                    JoinOrder = Raise(join.JoinOrder, random),
                    KnownNodes = (int)Math.Min(int.MaxValue, Raise(join.KnownNodes, random)),
                });
                return true;
            case ControlMessageKind.Confirm:
                var confirmed = OpenViewsMessage.Read(body, kind);
                ControlFrame.Append(buffer, confirmed with { Configuration = Raise(confirmed.Configuration, random) });
                return true;
            case ControlMessageKind.Heartbeat or ControlMessageKind.Resync:
                var known = KnownMessage.Read(body, kind);
                ControlFrame.Append(buffer, known with { Configuration = Raise(known.Configuration, random) });
                return true;
            case ControlMessageKind.Paused:
                var paused = PausedMessage.Read(body);
                ControlFrame.Append(buffer, paused with { Length = TimeSpan.MaxValue });
                return true;
            default:
                return false;
        }
    }

    // By little and by much; what is not negative stays so.
    private static long Raise(long truth, SeededRandom random)
    {
        long more = random.Below(4) == 0 ? long.MaxValue : 1L << (LeastShift + random.Below(63 - LeastShift));
        return truth > long.MaxValue - more ? long.MaxValue : truth + more;
    }
}
