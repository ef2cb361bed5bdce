using System.Buffers.Binary;
using QuickSilver.Feeds;

namespace QuickSilver.Simulation.Tests.Infrastructure;

// Gives messages that carry their numbers, as many as it may, and keeps its notifications of them.
internal sealed class NumberedFeed(long messages, int bytes) : IMessageFeed<ReadOnlyMemory<byte>>
{
    private readonly byte[] _payload = new byte[bytes];

    public long Given { get; private set; }

    public long GivenBytes { get; private set; }

    public long Stable { get; private set; }

    public int Marks { get; private set; }

    public List<Exception?> Ends { get; } = [];

    /// <summary>Called with each number up to which messages are stable, before it counts.</summary>
    public Action<long>? OnTold { get; set; }

    public static long NumberOf(in Message<ReadOnlyMemory<byte>> message) =>
        BinaryPrimitives.ReadInt64LittleEndian(message.Value.Span);

    public bool Pull(IFeedWriter<ReadOnlyMemory<byte>> writer)
    {
        Assert.True(writer.CanWrite);
        while (writer.CanWrite && Given < messages)
        {
            BinaryPrimitives.WriteInt64LittleEndian(_payload, ++Given);
            GivenBytes += bytes;
            writer.Write(_payload);
        }

        return Given < messages;
    }

    public void OnStable(long through)
    {
        Assert.Empty(Ends);
        Assert.InRange(through, Stable + 1, Given);
        OnTold?.Invoke(through);
        Stable = through;
        Marks++;
    }

    public void OnEnded(Exception? reason) => Ends.Add(reason);
}
