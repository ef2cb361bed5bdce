using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Requests;

// The answer to an inquiry.
internal readonly record struct FindingsMessage(ulong Inquiry, Findings Found) : IControlMessage, IReadableMessage<FindingsMessage>
{
    public int Kind => ControlMessageKind.Findings;

    public void Write(ControlBuffer buffer)
    {
        buffer.UInt64(1, Inquiry);
        buffer.UInt64(2, Found.Targets.Any);
        buffer.Bool(3, Found.IsServiceReached);
        buffer.UInt64(4, Found.Targets.First);
        buffer.Bool(5, Found.IsBesideService);
    }

    public static FindingsMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        ulong inquiry = 0;
        ulong any = 0;
        ulong first = 0;
        bool isServiceReached = false;
        bool isBesideService = false;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: inquiry = reader.ReadUInt64(field); break;
                case 2: any = reader.ReadUInt64(field); break;
                case 3: isServiceReached = reader.ReadBool(field); break;
                case 4: first = reader.ReadUInt64(field); break;
                case 5: isBesideService = reader.ReadBool(field); break;
                default: reader.Skip(field); break;
            }
        }

        return new FindingsMessage(inquiry, new Findings(new EchoesAnswered(any, first), isServiceReached, isBesideService));
    }
}
