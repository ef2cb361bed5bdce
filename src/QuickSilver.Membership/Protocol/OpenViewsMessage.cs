using System.Collections.Immutable;
using QuickSilver.Membership.Views;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol;

// How far views are settled: those superseded at or before Configuration are, except for the views in Open.
internal readonly record struct OpenViewsMessage(int Kind, long Configuration, ImmutableArray<OpenView> Open) : IControlMessage
{
    /// <summary>For all that the node sent.</summary>
    public static OpenViewsMessage Confirm(long configuration, ImmutableArray<OpenView> open) =>
        new(ControlMessageKind.Confirm, configuration, open);

    /// <summary>For every live node: each of them has confirmed it.</summary>
    public static OpenViewsMessage Settled(long configuration, ImmutableArray<OpenView> open) =>
        new(ControlMessageKind.Settled, configuration, open);

    public void Write(ControlBuffer buffer)
    {
        buffer.Int64(1, Configuration);
        ViewFields.WriteOpen(buffer, 2, Open);
    }

    public static OpenViewsMessage Read(ReadOnlySpan<byte> body, int kind)
    {
        var reader = new ProtobufReader(body);
        long configuration = 0;
        ImmutableArray<OpenView>.Builder? open = null;
        int most = kind == ControlMessageKind.Confirm ? OpenView.MostPerNode : OpenView.MostReported;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: configuration = reader.ReadInt64(field); break;
                case 2: ViewFields.ReadOpen(ref reader, field, ref open, most); break;
                default: reader.Skip(field); break;
            }
        }

        return new OpenViewsMessage(kind, configuration, open?.ToImmutable() ?? []);
    }
}
