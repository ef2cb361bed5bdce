using System.Collections.Immutable;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Protocol.Requests;

// Nothing that the node sent in a view superseded at or before this configuration is unsettled, but in the views that are named.
internal readonly record struct ConfirmMessage(long Configuration, ImmutableArray<OpenView> Open) : IControlMessage
{
    public static int Kind => ControlMessageKind.Confirm;

    public void Write(ProtoWriter writer)
    {
        writer.Int64(1, Configuration);
        ViewFields.WriteOpen(writer, 2, Open);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out ConfirmMessage message)
    {
        var reader = new ProtoReader(body);
        long configuration = 0;
        ImmutableArray<OpenView>.Builder? open = null;
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: configuration = reader.Int64(); break;
                case 2: ViewFields.ReadOpen(ref reader, ref open, OpenView.MostPerNode); break;
                default: reader.Skip(); break;
            }
        }

        message = new ConfirmMessage(configuration, open?.ToImmutable() ?? []);
        return !reader.Failed;
    }
}
