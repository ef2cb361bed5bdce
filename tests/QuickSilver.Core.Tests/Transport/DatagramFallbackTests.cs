using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Datagrams;

namespace QuickSilver.Core.Tests.Transport;

// What a port does when the system refuses; the refusals are scripted, as no test can have them of a kernel at will. F13.
public sealed class DatagramFallbackTests : IDisposable
{
    private static readonly DatagramAddress To = new(new IPEndPoint(IPAddress.Parse("239.255.1.1"), 5000));
    private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
    private readonly CoreCounters _counters = new();
    private readonly LogRecorder _log = new();

    public void Dispose() => _socket.Dispose();

    [Fact]
    public void A_run_that_the_device_cannot_cut_is_sent_again_in_pieces_and_no_run_is_tried_after()
    {
        var calls = new ScriptedCalls
        {
            Answer = (segment, bytes) => segment > 0 && bytes > segment ? CallOutcome.Unfit : CallOutcome.Done,
        };
        var port = NewPort(calls);
        Assert.Equal(64, port.MaxRunSegments);

        Assert.Equal(SendOutcome.Sent, port.Send(new byte[2500], 1000, To));

        Assert.Equal([1000, 1000, 500], calls.Sent.Select(sent => sent.Bytes));
        Assert.Equal(1, port.MaxRunSegments);
        Assert.Equal(3, _counters.DatagramsSent);
        Assert.Equal(0, _counters.RefusedSends);
        Assert.True(_log.Has(1002));

        Assert.Equal(SendOutcome.Sent, port.Send(new byte[2000], 1000, To));
        Assert.Single(_log.Entries);
    }

    // A packet may name the address to which its answer goes.
    [Fact]
    public void A_datagram_to_an_address_of_the_other_family_is_refused_and_nothing_is_thrown()
    {
        var to = new DatagramAddress(new IPEndPoint(IPAddress.IPv6Loopback, 5000));
        IDatagramCalls[] calls = OperatingSystem.IsLinux()
            ? [new ManagedDatagramCalls(_socket), new LinuxDatagramCalls(_socket)]
            : [new ManagedDatagramCalls(_socket)];
        Assert.All(calls, each => Assert.NotEqual(CallOutcome.Done, each.Send([1], to)));
    }

    [Fact]
    public void Runs_stay_when_single_datagrams_are_refused_as_well()
    {
        bool isGone = true;
        var port = NewPort(new ScriptedCalls { Answer = (_, _) => isGone ? CallOutcome.Unfit : CallOutcome.Done });

        Assert.Equal(SendOutcome.Refused, port.Send(new byte[3000], 1000, To));
        Assert.Equal(64, port.MaxRunSegments);
        Assert.Equal(3, _counters.RefusedSends);
        Assert.False(_log.Has(1002));

        isGone = false;
        Assert.Equal(SendOutcome.Sent, port.Send(new byte[3000], 1000, To));
        Assert.Equal(3, _counters.DatagramsSent);
        Assert.Equal(64, port.MaxRunSegments);
    }

    [Fact]
    public void Runs_stay_when_the_system_gets_busy_before_a_single_datagram_went()
    {
        var calls = new ScriptedCalls();
        calls.Outcomes.Enqueue(CallOutcome.Unfit);
        calls.Outcomes.Enqueue(CallOutcome.Busy);
        var port = NewPort(calls);
        Assert.Equal(SendOutcome.Busy, port.Send(new byte[3000], 1000, To));
        Assert.Equal(64, port.MaxRunSegments);
        Assert.Empty(calls.Sent);
    }

    [Fact]
    public void A_busy_system_has_sent_nothing()
    {
        var calls = new ScriptedCalls();
        calls.Outcomes.Enqueue(CallOutcome.Busy);
        var port = NewPort(calls);

        Assert.Equal(SendOutcome.Busy, port.Send(new byte[3000], 1000, To));
        Assert.Empty(calls.Sent);
        Assert.Equal((1, 0, 0), (_counters.BusySends, _counters.DatagramsSent, _counters.RefusedSends));

        Assert.Equal(SendOutcome.Sent, port.Send(new byte[3000], 1000, To));
        Assert.Equal((3000, 1000), calls.Sent.Single());
    }

    [Fact]
    public void A_system_that_gets_busy_amid_pieces_loses_the_rest_and_says_so()
    {
        var calls = new ScriptedCalls();
        calls.Outcomes.Enqueue(CallOutcome.Done);
        calls.Outcomes.Enqueue(CallOutcome.Busy);
        var port = NewPort(calls);
        port.MaxRunSegments = 1;

        Assert.Equal(SendOutcome.Sent, port.Send(new byte[3000], 1000, To));
        Assert.Equal(1, _counters.DatagramsSent);
        Assert.Equal(2, _counters.RefusedSends);
    }

    [Fact]
    public void A_refused_run_is_lost_and_each_datagram_of_it_counted()
    {
        var calls = new ScriptedCalls();
        calls.Outcomes.Enqueue(CallOutcome.Refused);
        var port = NewPort(calls);
        Assert.Equal(SendOutcome.Refused, port.Send(new byte[2001], 1000, To));
        Assert.Equal(3, _counters.RefusedSends);
        Assert.Equal(64, port.MaxRunSegments);
    }

    [Fact]
    public void The_segment_size_is_set_only_when_it_must_change()
    {
        var calls = new ScriptedCalls();
        var port = NewPort(calls);

        port.Send(new byte[1000], 1000, To);
        Assert.Equal(0, calls.SegmentChanges);
        port.Send(new byte[4000], 1000, To);
        port.Send(new byte[3500], 1000, To);
        port.Send(new byte[900], 1000, To);
        Assert.Equal(1, calls.SegmentChanges);
        port.Send(new byte[1200], 1200, To);
        Assert.Equal(2, calls.SegmentChanges);
        Assert.Equal((1200, 0), calls.Sent[^1]);
    }

    [Fact]
    public void Runs_are_limited_by_segments_and_by_bytes()
    {
        Assert.Equal(64 * 100, SegmentationOffload.RunBytes(100, 64, AddressFamily.InterNetwork));
        Assert.Equal(128 * 100, SegmentationOffload.RunBytes(100, 128, AddressFamily.InterNetwork));
        Assert.Equal(44 * 1472, SegmentationOffload.RunBytes(1472, 64, AddressFamily.InterNetwork));
        Assert.Equal(65_507, SegmentationOffload.RunBytes(65_507, 64, AddressFamily.InterNetwork));
        Assert.Equal(70_000, SegmentationOffload.RunBytes(70_000, 64, AddressFamily.InterNetwork));
        Assert.Equal(1472, SegmentationOffload.RunBytes(1472, 1, AddressFamily.InterNetwork));
    }

    // Where whole segments end between what a datagram may have and what Linux passes on whole.
    [Theory]
    [InlineData(1191, 54, 54)]
    [InlineData(1213, 53, 53)]
    [InlineData(1310, 49, 49)]
    [InlineData(1424, 45, 45)]
    [InlineData(1472, 44, 44)]
    [InlineData(1985, 32, 32)]
    [InlineData(2047, 31, 31)]
    [InlineData(4094, 15, 15)]
    [InlineData(8187, 7, 7)]
    [InlineData(8188, 7, 7)]
    [InlineData(65_493, 1, 1)]
    [InlineData(65_507, 1, 1)]
    public void A_run_has_whole_segments_of_no_more_bytes_than_reach_a_receiver_together(
        int segmentBytes, int segmentsOverIPv4, int segmentsOverIPv6)
    {
        Assert.Equal(segmentsOverIPv4, SegmentationOffload.RunSegments(segmentBytes, AddressFamily.InterNetwork));
        Assert.Equal(segmentsOverIPv6, SegmentationOffload.RunSegments(segmentBytes, AddressFamily.InterNetworkV6));
    }

    [Fact]
    public void A_receive_error_is_reported_and_counted_and_the_next_datagram_is_received()
    {
        var calls = new ScriptedCalls();
        calls.Incoming.Enqueue(null);
        calls.Incoming.Enqueue([1, 2, 3]);
        var port = NewPort(calls);
        var lease = new SlabPool(1 << 20).TryRent()!;

        Assert.Equal(-ScriptedCalls.RefusedError, port.TryReceive(lease, 64, 100));
        Assert.Equal(3, port.TryReceive(lease, 64, 100));
        Assert.Equal([1, 2, 3], lease.Span.Slice(64, 3).ToArray());
        Assert.Equal(1, _counters.ReceiveErrors);
        Assert.Equal(IDatagramCalls.NothingWaits, port.TryReceive(lease, 0, 100));
    }

    private DatagramSocket NewPort(IDatagramCalls calls) =>
        new(_socket, new IPEndPoint(IPAddress.Loopback, 1), calls, _counters, _log) { MaxRunSegments = 64 };
}
