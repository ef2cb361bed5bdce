using QuickSilver.Membership.Reachability;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Protocol.Requests;

// The answer to an inquiry.
internal readonly record struct FindingsMessage(ulong Inquiry, Findings Found) : IControlMessage
{
    public static int Kind => ControlMessageKind.Findings;

    public void Write(ProtoWriter writer)
    {
        writer.UInt64(1, Inquiry);
        writer.UInt64(2, Found.Targets.Any);
        writer.Bool(3, Found.IsServiceReached);
        writer.UInt64(4, Found.Targets.First);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out FindingsMessage message)
    {
        var reader = new ProtoReader(body);
        ulong inquiry = 0;
        ulong any = 0;
        ulong first = 0;
        bool isServiceReached = false;
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: inquiry = reader.UInt64(); break;
                case 2: any = reader.UInt64(); break;
                case 3: isServiceReached = reader.Bool(); break;
                case 4: first = reader.UInt64(); break;
                default: reader.Skip(); break;
            }
        }

        message = new FindingsMessage(inquiry, new Findings(new EchoesAnswered(any, first), isServiceReached));
        return !reader.Failed;
    }
}
