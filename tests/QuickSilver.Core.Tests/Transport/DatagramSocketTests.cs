using System.Net;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Datagrams;

namespace QuickSilver.Core.Tests.Transport;

// Real sockets on loopback. F13 (a tiny receive buffer), and the transport's share of F18 (an oversized datagram).
public sealed class DatagramSocketTests : IDisposable
{
    private readonly LogRecorder _log = new();
    private readonly CoreCounters _counters = new();
    private readonly SlabPool _pool = new(16 << 20);
    private readonly List<DatagramSocket> _open = [];
    private readonly LoopbackGroup _group = LoopbackGroup.Next();

    public void Dispose() => _open.ForEach(port => port.Dispose());

    [Fact]
    public void Datagrams_to_a_group_reach_all_its_ports_on_this_machine()
    {
        var one = Open(GroupPort());
        var two = Open(GroupPort());
        var sender = Open(new DatagramPortOptions { Receives = false });

        Assert.Equal(SendOutcome.Sent, sender.Send(Pattern(100), 100, new DatagramAddress(_group.EndPoint)));

        Assert.Equal(Pattern(100), ReceiveBytes(one, 100));
        Assert.Equal(Pattern(100), ReceiveBytes(two, 100));
    }

    [Fact]
    public void A_group_port_hears_no_other_group_and_no_unicast_of_its_port()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Elsewhere a port cannot be bound to its group.");
        var port = Open(GroupPort());
        var foreignAddress = new IPAddress([239, 254, 77, 7]);
        var foreign = Open(new DatagramPortOptions { Group = foreignAddress, Port = _group.Port });
        var sender = Open(new DatagramPortOptions());

        sender.Send(Pattern(10), 10, new DatagramAddress(new IPEndPoint(foreignAddress, _group.Port)));
        sender.Send(Pattern(20), 20, new DatagramAddress(new IPEndPoint(IPAddress.Loopback, _group.Port)));
        sender.Send(Pattern(30), 30, new DatagramAddress(_group.EndPoint));

        Assert.Equal(Pattern(10), ReceiveBytes(foreign, 10));
        Assert.Equal(Pattern(30), ReceiveBytes(port, 30));
    }

    [Fact]
    public void A_run_is_cut_into_datagrams_for_a_receiver_that_takes_no_runs()
    {
        var sender = Open(new DatagramPortOptions());
        Assert.SkipWhen(sender.MaxRunSegments == 1, "This system has no segmentation offload.");
        var receiver = Open(new DatagramPortOptions { SegmentationOffload = false });

        Assert.Equal(SendOutcome.Sent, sender.Send(Pattern(3500), 1000, new DatagramAddress(receiver.LocalEndPoint)));

        Assert.Equal([1000, 1000, 1000, 500], Sizes(receiver, 3500));
        Assert.Equal(4, _counters.DatagramsSent);
    }

    [Fact]
    public void A_run_may_arrive_joined_and_holds_the_same_bytes()
    {
        var sender = Open(new DatagramPortOptions());
        var receiver = Open(GroupPort());
        Assert.SkipWhen(sender.MaxRunSegments == 1 || !receiver.ReceivesRuns, "This system has no segmentation offload.");

        sender.Send(Pattern(44 * 1472), 1472, new DatagramAddress(_group.EndPoint));

        Assert.Equal(Pattern(44 * 1472), ReceiveBytes(receiver, 44 * 1472));
        Assert.True(_counters.RunsReceived < 44, "Nothing was joined.");
    }

    [Fact]
    public void The_segment_size_may_change_from_send_to_send()
    {
        var sender = Open(new DatagramPortOptions());
        var receiver = Open(new DatagramPortOptions { SegmentationOffload = false });
        var to = new DatagramAddress(receiver.LocalEndPoint);

        sender.Send(Pattern(2000), 1000, to);
        sender.Send(Pattern(1500), 500, to);
        sender.Send(Pattern(1200), 1200, to);
        sender.Send(Pattern(300), 1000, to);

        Assert.Equal([1000, 1000, 500, 500, 500, 1200, 300], Sizes(receiver, 5000));
    }

    [Fact]
    public void Without_offload_a_run_goes_as_single_datagrams()
    {
        var sender = Open(new DatagramPortOptions { SegmentationOffload = false });
        var receiver = Open(new DatagramPortOptions { SegmentationOffload = false });
        Assert.Equal(1, sender.MaxRunSegments);
        Assert.False(receiver.ReceivesRuns);

        Assert.Equal(SendOutcome.Sent, sender.Send(Pattern(2500), 1000, new DatagramAddress(receiver.LocalEndPoint)));

        Assert.Equal([1000, 1000, 500], Sizes(receiver, 2500));
    }

    [Fact]
    public void A_run_longer_than_one_call_takes_goes_in_more_calls()
    {
        var sender = Open(new DatagramPortOptions());
        var receiver = Open(new DatagramPortOptions { SegmentationOffload = false });

        Assert.Equal(SendOutcome.Sent, sender.Send(Pattern(64 * 1024), 1024, new DatagramAddress(receiver.LocalEndPoint)));

        Assert.Equal(Enumerable.Repeat(1024, 64), Sizes(receiver, 64 * 1024));
    }

    // The sizes at which whole segments end between the longest datagram and the longest run that Linux passes on whole, and the default.
    [Theory]
    [InlineData(1191)]
    [InlineData(1213)]
    [InlineData(1310)]
    [InlineData(1424)]
    [InlineData(1472)]
    [InlineData(1985)]
    [InlineData(2047)]
    [InlineData(4094)]
    [InlineData(8187)]
    [InlineData(8188)]
    public void The_longest_run_arrives_in_one_receive(int segmentBytes)
    {
        foreach (var address in new[] { IPAddress.Loopback, IPAddress.IPv6Loopback })
        {
            Assert.SkipWhen(address == IPAddress.IPv6Loopback && !System.Net.Sockets.Socket.OSSupportsIPv6, "This system has no IPv6.");
            int segments = SegmentationOffload.RunSegments(segmentBytes, address.AddressFamily);
            var sender = Open(new DatagramPortOptions(), address);
            var receiver = Open(new DatagramPortOptions(), address);
            Assert.SkipWhen(sender.MaxRunSegments == 1 || !receiver.ReceivesRuns, "This system has no segmentation offload.");
            Assert.SkipWhen(
                CountReceives(sender, receiver, 2, segmentBytes) == 2, "This system does not join what comes over its loopback.");

            Assert.Equal(1, CountReceives(sender, receiver, segments, segmentBytes));
        }
    }

    [Fact]
    public void A_run_of_as_many_segments_as_the_system_takes_goes_in_one_call_and_arrives_in_one_receive()
    {
        var sender = Open(new DatagramPortOptions());
        var receiver = Open(new DatagramPortOptions());
        Assert.SkipWhen(sender.MaxRunSegments == 1 || !receiver.ReceivesRuns, "This system has no segmentation offload.");
        Assert.SkipWhen(CountReceives(sender, receiver, 2, 100) == 2, "This system does not join what comes over its loopback.");

        Assert.Contains(SegmentationOffload.MaxSegments, new[] { 64, 128 });
        Assert.Equal(SegmentationOffload.MaxSegments, sender.MaxRunSegments);
        Assert.Equal(1, CountReceives(sender, receiver, sender.MaxRunSegments, 100));
        Assert.Equal(SegmentationOffload.MaxSegments, sender.MaxRunSegments);
        if (OperatingSystem.IsLinux() && System.Environment.OSVersion.Version >= new Version(6, 9))
        {
            Assert.Equal(128, SegmentationOffload.MaxSegments);
        }
    }

    [Fact]
    public void A_datagram_that_is_too_large_is_refused_and_counted()
    {
        var sender = Open(new DatagramPortOptions());
        Assert.Equal(SendOutcome.Refused, sender.Send(new byte[65_508], 65_508, new DatagramAddress(_group.EndPoint)));
        Assert.Equal(1, _counters.RefusedSends);
        Assert.Equal(SendOutcome.Sent, sender.Send(new byte[10], 10, new DatagramAddress(_group.EndPoint)));
    }

    [Fact]
    public void A_port_still_works_after_a_send_to_a_closed_port()
    {
        var port = Open(new DatagramPortOptions());
        var gone = Open(new DatagramPortOptions());
        var nobody = new DatagramAddress(gone.LocalEndPoint);
        gone.Dispose();

        for (int i = 0; i < 10; i++)
        {
            port.Send(Pattern(10), 10, nobody);
        }

        var peer = Open(new DatagramPortOptions());
        peer.Send(Pattern(50), 50, new DatagramAddress(port.LocalEndPoint));
        Assert.Equal(Pattern(50), ReceiveBytes(port, 50));
    }

    [Fact]
    public void Drops_at_a_full_receive_buffer_are_counted()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Only Linux tells of its drops.");
        var receiver = Open(new DatagramPortOptions { ReceiveBufferBytes = 4096 });
        var sender = Open(new DatagramPortOptions());
        var to = new DatagramAddress(receiver.LocalEndPoint);
        Assert.Equal(0, receiver.KernelDrops);

        for (int i = 0; i < 100; i++)
        {
            sender.Send(Pattern(1000), 1000, to);
        }

        long dropped = receiver.KernelDrops;
        Assert.InRange(dropped, 1, 99);
        Assert.Equal(100 - dropped, Sizes(receiver, (int)(100 - dropped) * 1000).Length);

        receiver.Dispose();
        Assert.Equal(dropped, receiver.KernelDrops);
    }

    [Fact]
    public void The_receive_buffer_is_read_back_and_a_clamped_one_named_with_its_remedy()
    {
        var port = Open(new DatagramPortOptions { ReceiveBufferBytes = 256 << 10 });
        Assert.True(port.ReceiveBufferBytes >= 256 << 10);
        Assert.False(SocketBuffers.IsClamped(256 << 10, port.ReceiveBufferBytes) && !_log.Has(1001));

        CoreLog.ReceiveBufferClamped(_log, port.LocalEndPoint, 8 << 20, 425_984, 8 << 20);
        Assert.Contains("sysctl -w net.core.rmem_max=8388608", _log.TextOf(1001));
    }

    [Fact]
    public void A_given_buffer_counts_as_clamped_when_it_is_not_twice_what_was_asked()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Linux's accounting.");
        Assert.True(SocketBuffers.IsClamped(8 << 20, 8 << 20));
        Assert.False(SocketBuffers.IsClamped(8 << 20, 16 << 20));
    }

    [Fact]
    public void A_port_that_is_taken_is_refused_with_its_address()
    {
        var first = Open(new DatagramPortOptions());
        var refusal = Assert.Throws<TransportException>(() => Open(new DatagramPortOptions { Port = first.LocalEndPoint.Port }));
        Assert.Contains(first.LocalEndPoint.ToString(), refusal.Message);
    }

    [Fact]
    public void A_closed_port_refuses_and_receives_nothing()
    {
        var port = Open(new DatagramPortOptions());
        int closings = 0;
        port.Closing = _ => closings++;
        port.Dispose();
        port.Dispose();

        Assert.Equal(1, closings);
        Assert.Equal(SendOutcome.Refused, port.Send(Pattern(10), 10, new DatagramAddress(_group.EndPoint)));
        var lease = _pool.TryRent()!;
        Assert.Equal(IDatagramCalls.NothingWaits, port.TryReceive(lease, 0, SlabPool.BlockBytes));
    }

    private DatagramPortOptions GroupPort() => new() { Group = _group.Address, Port = _group.Port };

    private int CountReceives(DatagramSocket sender, DatagramSocket receiver, int segments, int segmentBytes)
    {
        byte[] run = Pattern(segments * segmentBytes);
        Assert.Equal(SendOutcome.Sent, sender.Send(run, segmentBytes, new DatagramAddress(receiver.LocalEndPoint)));
        var received = Receive(receiver, run.Length);
        Assert.Equal(run, received.SelectMany(static part => part).ToArray());
        return received.Count;
    }

    private DatagramSocket Open(DatagramPortOptions options, IPAddress? address = null)
    {
        var port = new DatagramSocketFactory(address ?? IPAddress.Loopback, true, _counters, _log).Open(options);
        _open.Add(port);
        return port;
    }

    private static byte[] Pattern(int length) => [.. Enumerable.Range(0, length).Select(i => (byte)(i * 31))];

    private int[] Sizes(DatagramSocket port, int totalBytes) => [.. Receive(port, totalBytes).Select(run => run.Length)];

    private byte[] ReceiveBytes(DatagramSocket port, int totalBytes) => [.. Receive(port, totalBytes).SelectMany(run => run)];

    // Loopback delivers before the send returns, as a rule; the patience is for where it does not.
    private List<byte[]> Receive(DatagramSocket port, int totalBytes)
    {
        var lease = _pool.TryRent()!;
        var runs = new List<byte[]>();
        Patience.Until(
            () =>
            {
                int length = port.TryReceive(lease, 0, SlabPool.BlockBytes);
                if (length >= 0)
                {
                    runs.Add(lease.Span[..length].ToArray());
                }

                return runs.Sum(run => run.Length) >= totalBytes;
            },
            $"{totalBytes} bytes at {port}");
        Assert.Equal(IDatagramCalls.NothingWaits, port.TryReceive(lease, 0, SlabPool.BlockBytes));
        lease.Release();
        return runs;
    }
}
