using System.Collections.Immutable;
using QuickSilver.Membership.Views;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Requests;

// Nothing that the node sent in a view superseded at or before this configuration is unsettled, but in the views that are named.
internal readonly record struct ConfirmMessage(long Configuration, ImmutableArray<OpenView> Open)
    : IControlMessage, IReadableMessage<ConfirmMessage>
{
    public static int Kind => ControlMessageKind.Confirm;

    public void Write(ControlBuffer buffer)
    {
        buffer.Int64(1, Configuration);
        ViewFields.WriteOpen(buffer, 2, Open);
    }

    public static ConfirmMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        long configuration = 0;
        ImmutableArray<OpenView>.Builder? open = null;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: configuration = reader.ReadInt64(field); break;
                case 2: ViewFields.ReadOpen(ref reader, field, ref open, OpenView.MostPerNode); break;
                default: reader.Skip(field); break;
            }
        }

        return new ConfirmMessage(configuration, open?.ToImmutable() ?? []);
    }
}
