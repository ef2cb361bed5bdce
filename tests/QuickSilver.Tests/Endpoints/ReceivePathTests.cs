using System.Runtime.InteropServices;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Microbenchmarks.DataPath;

namespace QuickSilver.Tests.Endpoints;

// From runs of received packets to a handler, over the real multicast. The core thread is the test's own.
[Collection(nameof(AllocationTests))]
public sealed class ReceivePathTests
{
    private const int Runs = 4;
    private const int PacketBytes = 1472;

    [Theory]
    [InlineData(1)]
    [InlineData(100)]
    [InlineData(1000)]
    [InlineData(5000)]
    [InlineData(20_000)]
    public void Every_message_comes_to_the_handler_once_and_whole_wherever_packets_part_it(int bytes)
    {
        long next = 1;
        ReceiveBed<ReadOnlyMemory<byte>> bed = null!;
        bed = new(Runs, bytes, (in Message<ReadOnlyMemory<byte>> message) =>
        {
            Assert.Equal(next++, message.Sequence);
            Assert.True(message.Value.Span.SequenceEqual(bed.Packets.Payload));
        });
        bed.Pass();
        bed.Rewind();
        bed.Pass();

        Assert.Equal((2 * bed.Packets.Messages) + 1, next);
        Assert.Equal(2 * bed.Packets.Messages, bed.Counters.MessagesDelivered);
        Assert.Equal(2 * bed.Packets.Packets, bed.Counters.PacketsReceived);
        Assert.Equal(2 * bed.Packets.Bytes, bed.Counters.BytesReceived);
        Assert.Equal(0, bed.Counters.SinkExceptions);
        Assert.Equal(0, bed.Counters.DroppedInAll);
    }

    [Theory]
    [InlineData(100)]
    [InlineData(1000)]
    [InlineData(5000)]
    public void Receiving_allocates_nothing_per_message(int bytes)
    {
        long handled = 0;
        var bed = new ReceiveBed<ReadOnlyMemory<byte>>(
            Runs, bytes, (in Message<ReadOnlyMemory<byte>> message) => handled += message.Value.Length);
        for (int warm = 0; warm < 3; warm++)
        {
            bed.Pass();
            bed.Rewind();
        }

        Assert.Equal(0, Allocations.Of(() =>
        {
            bed.Rewind();
            handled = 0;
            bed.Pass();
        }));
        Assert.Equal(bed.Packets.Messages * bytes, handled);
    }

    [Fact]
    public void A_handler_of_bytes_is_given_them_where_the_packet_lies()
    {
        int inPlace = 0;
        int assembled = 0;
        var bed = new ReceiveBed<ReadOnlyMemory<byte>>(Runs, 100, (in Message<ReadOnlyMemory<byte>> message) =>
        {
            Assert.True(MemoryMarshal.TryGetArray(message.Value, out var memory));
            if (memory.Array!.Length >= SlabPool.BlockBytes)
            {
                inPlace++;
            }
            else
            {
                assembled++;
            }
        });
        bed.Pass();

        // Only what lies over a packet's border is put together elsewhere.
        Assert.InRange(assembled, 1, bed.Packets.Packets);
        Assert.Equal(bed.Packets.Messages, inPlace + assembled);
        Assert.True(inPlace > assembled * (PacketBytes / 150));
    }
}
