using System.Net.Sockets;
using System.Text;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Tls;

namespace QuickSilver.Core.Tests.Transport.Tls;

// T4: the connections that are admitted, and the reasons that both sides get for the others.
public sealed class TlsControlStreamTests
{
    private static readonly Secret Ours = TlsHouse.NewSecret("ours");
    private static readonly Secret Theirs = TlsHouse.NewSecret("theirs");

    [Fact]
    public void With_one_secret_bytes_go_there_and_come_back_and_the_peer_is_known_by_its_name()
    {
        using var service = new TlsService(TlsHouse.Of(Ours));
        using var node = new TlsNode(TlsHouse.Of(Ours));
        var (stream, told) = node.Connect(service.At);
        // Before the handshake is over, too.
        node.Node.Do(() => stream.Send("hel"u8));
        Patience.Until(() => told.Told.Contains("connected"), "the connection");
        node.Node.Do(() => stream.Send("lo"u8));

        Patience.Until(() => told.Text == "hello", "the echo");
        Assert.Equal("ours", Assert.Single(service.Admitted)?.Name);
        Assert.Equal("ours", node.Node.Do(() => stream.Peer)?.Name);
        Patience.Until(() => stream.PendingBytes == 0, "all handed to the network");
    }

    [Fact]
    public void Large_and_small_pieces_arrive_whole_and_in_order_both_ways()
    {
        using var service = new TlsService(TlsHouse.Of(Ours));
        using var node = new TlsNode(TlsHouse.Of(Ours));
        var (stream, told) = node.Connect(service.At);
        var expected = new StringBuilder();
        node.Node.Do(() =>
        {
            for (int i = 0; i < 400; i++)
            {
                string piece = $"{i}" + new string((char)('a' + (i % 26)), i % 40 == 0 ? 100_000 : i % 50);
                expected.Append(piece);
                stream.Send(Encoding.ASCII.GetBytes(piece));
            }
        });

        Patience.Until(() => told.ConsumedBytes >= expected.Length, "all of it");
        Assert.Equal(expected.ToString(), told.Text);
    }

    [Fact]
    public void Bytes_queued_before_a_close_are_still_sent()
    {
        using var service = new TlsService(TlsHouse.Of(Ours)) { OnOffer = static (_, bytes) => bytes.Length };
        using var node = new TlsNode(TlsHouse.Of(Ours));
        var (stream, told) = node.Connect(service.At);
        Patience.Until(() => told.Told.Contains("connected"), "the connection");
        node.Node.Do(() =>
        {
            stream.Send(new byte[300_000]);
            stream.Close();
        });

        Patience.Until(() => service.Recorders is [{ ConsumedBytes: 300_000 }], "all of it");
        Patience.Until(() => service.Recorders[0].Reason == "closed: the peer closed the stream", "the end");
        Assert.Null(told.Reason);
    }

    [Fact]
    public void A_peer_that_is_not_read_is_held_back()
    {
        const int AllBytes = 64 << 20;
        // Each is far less than the kernel holds.
        const int Pieces = 1024;
        using var goesOn = new ManualResetEventSlim();
        using var service = new TlsService(TlsHouse.Of(Ours))
        {
            OnOffer = (_, bytes) =>
            {
                goesOn.Wait(Patience.Limit);
                return bytes.Length;
            },
        };
        using var node = new TlsNode(TlsHouse.Of(Ours));
        var (stream, told) = node.Connect(service.At);
        Patience.Until(() => told.Told.Contains("connected"), "the connection");
        node.Node.Do(() =>
        {
            for (int i = 0; i < Pieces; i++)
            {
                stream.Send(new byte[AllBytes / Pieces]);
            }
        });
        // What the kernel holds, and one piece beyond.
        long before = 0;
        Patience.Until(
            () =>
            {
                long pending = stream.PendingBytes;
                bool moves = SpinWait.SpinUntil(() => stream.PendingBytes != pending, TimeSpan.FromMilliseconds(200));
                return !moves && (before = pending) < AllBytes;
            },
            "a pause of the sender");
        Assert.True(before > AllBytes / 4, $"{before} bytes wait");
        goesOn.Set();
        Patience.Until(() => service.Recorders[0].ConsumedBytes == AllBytes, "all of it");
    }

    [Fact]
    public void Another_secret_is_refused_and_both_sides_get_the_reason()
    {
        using var service = new TlsService(TlsHouse.Of(Ours));
        using var node = new TlsNode(TlsHouse.Of(Theirs));
        var (stream, told) = node.Connect(service.At);
        Patience.Until(() => told.Reason is not null, "the refusal");
        Assert.Equal(KeyFault.OtherService, stream.KeyFault);
        Assert.Equal(
            $"closed: the service at {service.At} presented a certificate that is not of this secret; the service and this node must have "
            + "the same secret, or certificates of one authority",
            told.Reason);
        Patience.Until(() => service.Refused.Length == 1, "the service hears of it");
        Assert.Empty(service.Admitted);
        Assert.Equal(StreamRefusal.Failed, service.Refused[0].Kind);
    }

    [Fact]
    public void A_node_without_tls_is_refused_in_few_bytes()
    {
        using var service = new TlsService(TlsHouse.Of(Ours));
        using var plain = new TlsNode(null);
        var (stream, told) = plain.Connect(service.At);
        // As the first frame of a node: a length, and not as long as that of a TLS record.
        plain.Node.Do(() => stream.Send([0x60, 0, 0, 0, 10, 94, 1, 2, 3, 4, 5, 6, 7]));
        Patience.Until(() => told.Reason is not null, "the refusal");
        Assert.Equal(TlsSide.NoTlsAlert.Length, told.ConsumedBytes);
        Patience.Until(() => service.Refused.Length == 1, "the service hears of it");
        Assert.EndsWith("does not use TLS", service.Refused[0].Reason);
        Assert.Empty(service.Admitted);
    }

    [Fact]
    public void A_service_without_tls_is_distinguished_from_one_with_another_secret()
    {
        // As a service without security: it answers what it does not understand with a frame.
        using var plain = new TlsService(null) { OnOffer = static (stream, bytes) => Answer(stream, bytes) };
        using var node = new TlsNode(TlsHouse.Of(Ours));
        var (stream, told) = node.Connect(plain.At);
        Patience.Until(() => told.Reason is not null, "the failure");
        Assert.StartsWith($"closed: the service at {plain.At} does not use TLS", told.Reason);
        Assert.Equal(KeyFault.ServiceWithoutKey, stream.KeyFault);

        static int Answer(IControlStream stream, byte[] bytes)
        {
            stream.Send([20, 0, 0, 0, 1, 2, 3]);
            return bytes.Length;
        }
    }

    // So that a service that ends can say so to a node that has just come.
    [Fact]
    public void A_handshake_in_progress_completes_after_the_service_stopped_to_listen()
    {
        using var service = new TlsService(TlsHouse.Of(Ours));
        using var node = new TlsNode(TlsHouse.Of(Ours));
        using var door = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        door.Bind(TlsHouse.AnyPort);
        door.Listen();
        var (stream, told) = node.Connect((System.Net.IPEndPoint)door.LocalEndPoint!);
        node.Node.Do(() => stream.Send("hello"u8));
        using var near = new NetworkStream(door.Accept(), ownsSocket: true);
        var toService = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        toService.Connect(service.At);
        using var far = new NetworkStream(toService, ownsSocket: true);
        byte[] bytes = new byte[64 << 10];
        far.Write(bytes, 0, near.Read(bytes));
        // The answer to the first bytes shows that the handshake is under way.
        int answered = far.Read(bytes);
        service.StopListening();
        near.Write(bytes, 0, answered);
        _ = near.CopyToAsync(far);
        _ = far.CopyToAsync(near);

        Patience.Until(() => told.Text == "hello", "the echo");
        Assert.Single(service.Admitted);
    }

    [Fact]
    public void A_service_that_closes_before_the_handshake_is_named()
    {
        using var plain = new TlsService(null) { OnOffer = static (stream, _) => -1 };
        using var node = new TlsNode(TlsHouse.Of(Ours));
        var (_, told) = node.Connect(plain.At);
        Patience.Until(() => told.Reason is not null, "the failure");
        Assert.StartsWith($"closed: the service at {plain.At} closed the connection before the TLS handshake", told.Reason);
    }

    [Fact]
    public void A_port_without_a_listener_is_reported_as_without_tls()
    {
        int port;
        using (var service = new TlsService(TlsHouse.Of(Ours)))
        {
            port = service.At.Port;
        }

        using var node = new TlsNode(TlsHouse.Of(Ours));
        var (_, told) = node.Connect(new System.Net.IPEndPoint(System.Net.IPAddress.Loopback, port));
        Patience.Until(() => told.Reason is not null, "the failure");
        Assert.Contains("connection refused; nothing listens there", told.Reason);
    }

    [Fact]
    public void A_connection_that_never_begins_the_handshake_is_closed_and_delays_no_other()
    {
        using var service = new TlsService(TlsHouse.Of(Ours));
        using var silent = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        silent.Connect(service.At);
        using var node = new TlsNode(TlsHouse.Of(Ours));
        var (_, told) = node.Connect(service.At);
        Patience.Until(() => told.Told.Contains("connected"), "the connection of the other");
        Patience.Until(() => service.Refused.Length == 1, "the end of the silent one");
        Assert.EndsWith("did not end within 5 s", service.Refused[0].Reason);
        Assert.Equal(StreamRefusal.Silent, service.Refused[0].Kind);
        Assert.Equal(0, silent.Receive(new byte[1]));
    }

    [Fact]
    public void Four_addresses_that_never_begin_their_handshakes_keep_no_other_out_and_those_that_give_way_are_counted()
    {
        using var service = new TlsService(TlsHouse.Of(Ours));
        var silent = new List<Socket>();
        try
        {
            for (int i = 0; i < 260; i++)
            {
                var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
                silent.Add(socket);
                socket.Bind(new System.Net.IPEndPoint(new System.Net.IPAddress([127, 0, 1, (byte)(i % 4)]), 0));
                socket.Connect(service.At);
            }

            // Those beyond the share of their addresses: all before them are under way.
            Patience.Until(() => service.Refused.Count(static one => one.Kind == StreamRefusal.NoRoom) == 4, "the refusals");
            using var node = new TlsNode(TlsHouse.Of(Ours));
            var (_, told) = node.Connect(service.At);
            Patience.Until(() => told.Told.Contains("connected") || told.Reason is not null, "the connection of the other");
            Assert.Null(told.Reason);
            Assert.Equal(
                "256 handshakes were under way, and this one, the oldest of 127.0.1.0, gave way to that of another address",
                Assert.Single(service.Refused, static one => one.Kind == StreamRefusal.Displaced).Reason);
            Assert.Equal(0, silent[0].Receive(new byte[1]));
        }
        finally
        {
            silent.ForEach(static socket => socket.Dispose());
        }
    }

    [Fact]
    public void Random_bytes_end_a_handshake_and_nothing_else()
    {
        using var service = new TlsService(TlsHouse.Of(Ours));
        var random = new Random(7);
        for (int i = 0; i < 20; i++)
        {
            using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            socket.Connect(service.At);
            byte[] garbage = new byte[random.Next(1, 4000)];
            random.NextBytes(garbage);
            if (i % 2 == 0)
            {
                (garbage[0], garbage[1 % garbage.Length]) = (22, 3);
            }

            socket.Send(garbage);
            socket.Shutdown(SocketShutdown.Send);
        }

        Patience.Until(() => service.Refused.Length == 20, "the refusals");
        using var node = new TlsNode(TlsHouse.Of(Ours));
        var (_, told) = node.Connect(service.At);
        Patience.Until(() => told.Told.Contains("connected"), "a proper connection");
    }

    [Fact]
    public void Two_hundred_at_once_from_one_address_all_come_in_although_only_some_at_a_time()
    {
        using var service = new TlsService(TlsHouse.Of(Ours));
        using var node = new TlsNode(TlsHouse.Of(Ours));
        int open = 0;
        var waiting = Enumerable.Range(0, 200).Select(_ => node.Connect(service.At)).ToList();
        var until = DateTime.UtcNow + Patience.Limit;
        while (waiting.Count > 0 && DateTime.UtcNow < until)
        {
            open += waiting.RemoveAll(static one => one.Told.Told.Contains("connected") && one.Told.Reason is null);
            // They come again, as nodes do.
            var refused = waiting.Where(static one => one.Told.Reason is not null).ToList();
            refused.ForEach(one => waiting.Remove(one));
            waiting.AddRange(refused.Select(_ => node.Connect(service.At)));
            SpinWait.SpinUntil(() => waiting.Exists(static one => one.Told.Told.Length > 0), TimeSpan.FromMilliseconds(5));
        }

        Assert.Equal(200, open);
        Assert.All(service.Refused, static one => Assert.Equal(StreamRefusal.NoRoom, one.Kind));
    }
}
