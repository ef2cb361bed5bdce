using System.Collections.Immutable;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Protocol.Replies;

// Every live node has confirmed this configuration, but for the views that are named: some node has something under way in them.
internal readonly record struct SettledMessage(long Configuration, ImmutableArray<OpenView> Open) : IControlMessage
{
    public static int Kind => ControlMessageKind.Settled;

    public void Write(ProtoWriter writer)
    {
        writer.Int64(1, Configuration);
        ViewFields.WriteOpen(writer, 2, Open);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out SettledMessage message)
    {
        var reader = new ProtoReader(body);
        long configuration = 0;
        ImmutableArray<OpenView>.Builder? open = null;
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: configuration = reader.Int64(); break;
                case 2: ViewFields.ReadOpen(ref reader, ref open, OpenView.MostTold); break;
                default: reader.Skip(); break;
            }
        }

        message = new SettledMessage(configuration, open?.ToImmutable() ?? []);
        return !reader.Failed;
    }
}
