using System.Collections.Immutable;
using QuickSilver.Membership.Views;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Replies;

// Every live node has confirmed this configuration, but for the views that are named: some node has something under way in them.
internal readonly record struct SettledMessage(long Configuration, ImmutableArray<OpenView> Open)
    : IControlMessage, IReadableMessage<SettledMessage>
{
    public static int Kind => ControlMessageKind.Settled;

    public void Write(ControlBuffer buffer)
    {
        buffer.Int64(1, Configuration);
        ViewFields.WriteOpen(buffer, 2, Open);
    }

    public static SettledMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        long configuration = 0;
        ImmutableArray<OpenView>.Builder? open = null;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: configuration = reader.ReadInt64(field); break;
                case 2: ViewFields.ReadOpen(ref reader, field, ref open, OpenView.MostTold); break;
                default: reader.Skip(field); break;
            }
        }

        return new SettledMessage(configuration, open?.ToImmutable() ?? []);
    }
}
