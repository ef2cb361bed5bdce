using System.Net;
using System.Text;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Transport;
using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Tests.Infrastructure;

namespace QuickSilver.Simulation.Tests.Machines;

// Control streams: ordered bytes whatever the link does; F3, F4, F6 as a stream feels them.
public sealed class StreamTests
{
    private readonly SimulatedMachines _cluster = new(11);
    private readonly RecordingAcceptor _acceptor = new();
    private readonly RecordingHandler _client = new();
    private readonly IPEndPoint _service;
    private readonly IControlListener _listener;

    public StreamTests()
    {
        _cluster.AddNodes(3);
        _listener = Server.Environment.Listen(new IPEndPoint(IPAddress.Any, 5000), _acceptor);
        _service = new IPEndPoint(Server.Address, 5000);
    }

    private SimulatedMachine Server => _cluster.Nodes[0];

    private SimulatedMachine ClientNode => _cluster.Nodes[1];

    [Fact]
    public void Both_sides_get_the_others_bytes_in_order()
    {
        var stream = Connect();
        Assert.Equal(1, _client.Connections);
        Assert.Equal(0, _acceptor.Handler.Connections);
        Assert.Equal(_service, stream.RemoteEndPoint);
        Assert.Equal(ClientNode.Address, _acceptor.Stream.RemoteEndPoint!.Address);
        stream.Send("hello "u8);
        stream.Send("world"u8);
        _acceptor.Stream.Send("welcome"u8);
        Run(1);
        Assert.Equal("hello world", _acceptor.Handler.Text);
        Assert.Equal("welcome", _client.Text);
        Assert.Equal(0, stream.PendingBytes);
    }

    [Fact]
    public void Bytes_that_streams_share_arrive_in_their_place_among_a_streams_own_and_are_not_copied()
    {
        var one = Connect();
        var other = ClientNode.Environment.Connect(_service, new RecordingHandler());
        Run(0.1);
        var shared = new byte[1 << 20];
        new Random(3).NextBytes(shared);
        // Whatever is cut across two pieces is copied, and no more.
        long before = GC.GetAllocatedBytesForCurrentThread();
        foreach (var stream in (IControlStream[])[one, other])
        {
            stream.Send("before "u8);
            stream.SendShared(shared);
            stream.Send(" after"u8);
        }

        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 300_000);
        Run(1);
        byte[] expected = [.. "before "u8, .. shared, .. " after"u8];
        Assert.All(_acceptor.Accepted, accepted => Assert.Equal(expected, accepted.Handler.Received));
    }

    [Fact]
    public void Bytes_sent_before_the_connection_stands_follow_when_it_does()
    {
        _acceptor.WhenAccepted = accepted => accepted.Send("first"u8);
        _client.WhenConnected = stream => stream.Send("then "u8);
        var stream = ClientNode.Environment.Connect(_service, _client);
        stream.Send("early "u8);
        Assert.Equal(6, stream.PendingBytes);
        Run(1);
        Assert.Equal("early then ", _acceptor.Handler.Text);
        Assert.Equal("first", _client.Text);
    }

    [Fact]
    public void Unconsumed_bytes_are_offered_again_with_the_next_ones()
    {
        var stream = Connect();
        // Consumes whole frames of four bytes only.
        _acceptor.Handler.Consume = bytes => bytes.Length / 4 * 4;
        stream.Send("abcdef"u8);
        Run(1);
        Assert.Equal("abcd", _acceptor.Handler.Text);
        int offers = _acceptor.Handler.Offers.Count;
        Run(1);
        Assert.Equal(offers, _acceptor.Handler.Offers.Count);
        stream.Send("gh"u8);
        Run(1);
        Assert.Equal("abcdefgh", _acceptor.Handler.Text);
        Assert.Equal(4, _acceptor.Handler.Offers[^1]);
    }

    [Fact]
    public void A_handler_that_claims_more_than_it_was_given_is_found_out()
    {
        var stream = Connect();
        _acceptor.Handler.Consume = bytes => bytes.Length + 1;
        stream.Send("abc"u8);
        Assert.IsType<InvalidOperationException>(Assert.Throws<SimulationException>(() => Run(1)).InnerException);
    }

    [Fact]
    public void Any_bytes_over_any_link_arrive_unchanged()
    {
        Prop.ForAll<ulong, byte[][]>((seed, pieces) =>
        {
            var sent = pieces.Append(new byte[50_000]).ToArray();
            return Transfer(seed, sent).Received.SequenceEqual(sent.SelectMany(piece => piece));
        }).QuickCheckThrowOnFailure();
    }

    [Fact]
    public void Boundaries_fall_where_chance_puts_them()
    {
        var offers = new HashSet<int>();
        for (ulong seed = 0; seed < 20; seed++)
        {
            offers.UnionWith(Transfer(seed, [new byte[50_000]]).Offers);
        }

        Assert.Contains(50_000, offers);
        Assert.True(offers.Count > 10);
    }

    [Fact]
    public void A_port_without_a_listener_refuses_and_so_does_an_acceptor_that_gives_no_handler()
    {
        ClientNode.Environment.Connect(new IPEndPoint(Server.Address, 5001), _client);
        Run(1);
        Assert.Equal(["connection refused"], _client.Closings);

        _acceptor.Refuses = true;
        var second = new RecordingHandler();
        ClientNode.Environment.Connect(_service, second);
        Run(1);
        Assert.Equal(["connection refused"], second.Closings);
        Assert.Equal(0, second.Connections);

        _listener.Dispose();
        var third = new RecordingHandler();
        ClientNode.Environment.Connect(_service, third);
        Run(1);
        Assert.Equal(["connection refused"], third.Closings);
    }

    [Fact]
    public void An_address_that_no_node_has_is_not_reached()
    {
        ClientNode.Environment.Connect(new IPEndPoint(IPAddress.Parse("10.9.9.9"), 5000), _client);
        Run(5);
        Assert.Equal(["no route to host"], _client.Closings);
    }

    [Fact]
    public void A_listener_on_the_loopback_serves_its_own_node_only()
    {
        var local = new RecordingAcceptor();
        Server.Environment.Listen(new IPEndPoint(IPAddress.Loopback, 6000), local);
        var outside = new RecordingHandler();
        var inside = new RecordingHandler();
        ClientNode.Environment.Connect(new IPEndPoint(Server.Address, 6000), outside);
        Server.Environment.Connect(new IPEndPoint(IPAddress.Loopback, 6000), inside).Send("here"u8);
        Run(1);
        Assert.Equal(["connection refused"], outside.Closings);
        Assert.Equal(1, inside.Connections);
        Assert.Equal("here", local.Handler.Text);
    }

    [Fact]
    public void A_port_is_listened_on_once()
    {
        Assert.Throws<TransportException>(() => Server.Environment.Listen(_service, _acceptor));
        Assert.Throws<TransportException>(() => Server.Environment.Listen(new IPEndPoint(ClientNode.Address, 7000), _acceptor));
        Assert.NotEqual(0, Server.Environment.Listen(new IPEndPoint(IPAddress.Any, 0), _acceptor).LocalEndPoint.Port);
    }

    [Fact]
    public void Closing_notifies_only_the_peer_once_after_the_last_bytes()
    {
        var stream = Connect();
        stream.Send("bye"u8);
        stream.Close();
        stream.Send("ignored"u8);
        _acceptor.Stream.Send("too late"u8);
        Run(1);
        Assert.Equal("bye", _acceptor.Handler.Text);
        Assert.Single(_acceptor.Handler.Closings);
        Assert.Empty(_client.Closings);
        Assert.Empty(_client.Text);
        _acceptor.Stream.Close();
        Run(1);
        Assert.Empty(_client.Closings);
    }

    [Fact]
    public void Bytes_wait_while_the_nodes_are_cut_off_and_arrive_when_they_are_not()
    {
        var stream = Connect();
        _cluster.Network.Partition([0], [1]);
        stream.Send("patience"u8);
        Run(14);
        Assert.Empty(_acceptor.Handler.Text);
        _cluster.Network.Reconnect();
        Run(1);
        Assert.Equal("patience", _acceptor.Handler.Text);
        Run(30);
        Assert.Empty(_client.Closings);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_long_cut_breaks_the_stream_for_both(bool bothWays)
    {
        Connect();
        _cluster.Network.BlockOneWay([0], [1]);
        if (bothWays)
        {
            _cluster.Network.BlockOneWay([1], [0]);
        }

        Run(14.9);
        Assert.Empty(_client.Closings);
        Run(0.2);
        Assert.Contains("timed out", Assert.Single(_client.Closings), StringComparison.Ordinal);
        Assert.Contains("timed out", Assert.Single(_acceptor.Handler.Closings), StringComparison.Ordinal);
    }

    [Fact]
    public void A_cut_that_heals_and_recurs_counts_from_the_start()
    {
        Connect();
        _cluster.Network.Partition([0], [1]);
        Run(10);
        _cluster.Network.Reconnect();
        Run(1);
        _cluster.Network.Partition([0], [1]);
        Run(10);
        Assert.Empty(_client.Closings);
        Run(6);
        Assert.Single(_client.Closings);
    }

    [Fact]
    public void A_connection_across_a_cut_stands_when_it_heals_and_else_times_out()
    {
        _cluster.Network.Partition([0], [1]);
        ClientNode.Environment.Connect(_service, _client);
        Run(5);
        _cluster.Network.Reconnect();
        Run(1);
        Assert.Equal(1, _client.Connections);

        _cluster.Network.Partition([0], [2]);
        var other = new RecordingHandler();
        _cluster.Nodes[2].Environment.Connect(_service, other);
        Run(20);
        Assert.Equal(0, other.Connections);
        Assert.Contains("timed out", Assert.Single(other.Closings), StringComparison.Ordinal);
        Assert.Empty(_client.Closings);
    }

    [Fact]
    public void A_crash_resets_the_peers_streams()
    {
        var stream = Connect();
        Server.Crash();
        stream.Send("anyone?"u8);
        Run(1);
        Assert.Equal(["the peer reset the connection"], _client.Closings);
        Assert.Empty(_acceptor.Handler.Closings);
        Assert.Empty(_acceptor.Handler.Text);
    }

    [Fact]
    public void Lost_power_is_noticed_by_silence_only_and_refuses_no_connection()
    {
        Connect();
        Server.Crash(silently: true);
        var second = new RecordingHandler();
        ClientNode.Environment.Connect(_service, second);
        Run(14);
        Assert.Empty(_client.Closings);
        Assert.Empty(second.Closings);
        Run(2);
        Assert.Contains("timed out", Assert.Single(_client.Closings), StringComparison.Ordinal);
        Assert.Contains("timed out", Assert.Single(second.Closings), StringComparison.Ordinal);
    }

    [Fact]
    public void A_restarted_node_listens_only_after_it_listens_again()
    {
        Server.Crash();
        Server.Restart();
        ClientNode.Environment.Connect(_service, _client);
        Run(1);
        Assert.Equal(["connection refused"], _client.Closings);
        Server.Environment.Listen(new IPEndPoint(IPAddress.Any, 5000), _acceptor);
        ClientNode.Environment.Connect(_service, _client);
        Run(1);
        Assert.Equal(1, _client.Connections);
    }

    [Fact]
    public void Streams_can_be_broken_on_demand()
    {
        Connect();
        _cluster.Network.BreakStreams(1, 2);
        Run(1);
        Assert.Empty(_client.Closings);
        _cluster.Network.BreakStreams(1, 0);
        Run(1);
        Assert.Equal(["the connection was broken"], _client.Closings);
        Assert.Equal(["the connection was broken"], _acceptor.Handler.Closings);
        Assert.Empty(Server.Environment.Endpoints.Connections);
        Assert.Empty(ClientNode.Environment.Endpoints.Connections);
    }

    [Fact]
    public void A_paused_reader_fills_the_window_and_then_bytes_wait_at_the_sender()
    {
        var stream = Connect();
        Server.Pause();
        var sent = new byte[1 << 20];
        new Random(1).NextBytes(sent);
        stream.Send(sent);
        Run(1);
        Assert.InRange(stream.PendingBytes, 1 << 19, 1 << 20);
        Assert.Empty(_acceptor.Handler.Received);
        Server.Resume();
        Run(1);
        Assert.Equal(0, stream.PendingBytes);
        Assert.Equal(sent, _acceptor.Handler.Received);
    }

    [Fact]
    public void A_handler_may_close_from_within_its_callbacks()
    {
        var stream = Connect();
        _acceptor.Handler.Consume = bytes =>
        {
            _acceptor.Stream.Close();
            return bytes.Length;
        };
        stream.Send(Encoding.UTF8.GetBytes("garbage"));
        Run(1);
        Assert.Equal(["the peer closed the stream"], _client.Closings);
        Assert.Empty(_acceptor.Handler.Closings);
    }

    private static RecordingHandler Transfer(ulong seed, byte[][] pieces)
    {
        var cluster = new SimulatedMachines(new SimulationOptions
        {
            Seed = seed,
            Link = new LinkModel { Loss = 0.1, Reorder = 0.1, Duplicate = 0.1, Jitter = TimeSpan.FromMilliseconds(2) },
        });
        cluster.AddNodes(2);
        var acceptor = new RecordingAcceptor();
        cluster.Nodes[0].Environment.Listen(new IPEndPoint(IPAddress.Any, 5000), acceptor);
        var stream = cluster.Nodes[1].Environment.Connect(new IPEndPoint(cluster.Nodes[0].Address, 5000), new RecordingHandler());
        foreach (var piece in pieces)
        {
            stream.Send(piece);
            cluster.Run(TimeSpan.FromMicroseconds(300));
        }

        cluster.Run(TimeSpan.FromMinutes(1));
        return acceptor.Handler;
    }

    private IControlStream Connect()
    {
        var stream = ClientNode.Environment.Connect(_service, _client);
        Run(0.1);
        Assert.Equal(1, _client.Connections);
        return stream;
    }

    private void Run(double seconds) => _cluster.Run(TimeSpan.FromSeconds(seconds));
}
