using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using System.Text;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Overlapped;

namespace QuickSilver.Core.Tests.Transport;

// Two nodes on loopback, once per poller that runs here. F7 (a slow and a throwing handler), and streams' share of F18 (garbage).
public abstract class TcpControlStreamContract : IDisposable
{
    private const int BufferBytes = 1 << 20;

    private readonly MachineNode _server;
    private readonly MachineNode _client;

    internal TcpControlStreamContract(Func<IPoller> newPoller)
    {
        _server = new MachineNode(newPoller, BufferBytes);
        _client = new MachineNode(newPoller, BufferBytes);
    }

    public void Dispose()
    {
        _client.Dispose();
        _server.Dispose();
        GC.SuppressFinalize(this);
    }

    [Fact]
    public void Bytes_go_there_and_come_back()
    {
        var echo = Listen(() => new StreamRecorder { OnOffer = Echo });
        var (stream, told) = Connect(echo);
        _client.Do(() => stream.Send("hello"u8));

        Patience.Until(() => told.Text == "hello", "the echo");
        Assert.Equal("connected", told.Told.Single());
        Patience.Until(() => stream.PendingBytes == 0, "all handed to the network");
    }

    [Fact]
    public void Bytes_that_streams_share_arrive_in_their_place_among_a_streams_own()
    {
        const int Pieces = 200;
        // The server's core thread adds to it.
        var served = new ConcurrentQueue<StreamRecorder>();
        var at = Listen(() =>
        {
            var recorder = new StreamRecorder();
            served.Enqueue(recorder);
            return recorder;
        });
        var (one, _) = Connect(at);
        var (other, _) = Connect(at);
        byte[] shared = Encoding.ASCII.GetBytes(new string('x', 3000));
        _client.Do(() =>
        {
            for (int i = 0; i < Pieces; i++)
            {
                foreach (var stream in (IControlStream[])[one, other])
                {
                    stream.Send(Encoding.ASCII.GetBytes($"{i}"));
                    stream.SendShared(shared);
                }
            }
        });

        string expected = string.Concat(Enumerable.Range(0, Pieces).Select(i => $"{i}{Encoding.ASCII.GetString(shared)}"));
        Patience.Until(() => served.Count == 2, "both connections");
        foreach (var recorder in served)
        {
            Patience.Until(() => recorder.Text == expected, "all of it, in order");
        }

        Patience.Until(() => one.PendingBytes == 0 && other.PendingBytes == 0, "all handed to the network");
    }

    [Fact]
    public void Bytes_sent_before_the_connection_is_open_are_sent_when_it_opens()
    {
        var served = new StreamRecorder();
        var at = Listen(() => served);
        _client.Do(() => _client.Environment.Connect(at, new StreamRecorder()).Send("early"u8));
        Patience.Until(() => served.Text == "early", "the early bytes");
        // The accepting side knows the stream already: only the connecting side is notified.
        Assert.Empty(served.Told);
    }

    [Fact]
    public void Unconsumed_bytes_are_offered_again_with_what_follows()
    {
        var offers = new List<string>();
        var served = new StreamRecorder
        {
            OnOffer = (_, bytes) =>
            {
                lock (offers)
                {
                    offers.Add(Encoding.ASCII.GetString(bytes));
                }

                // Whole lines only.
                return Array.LastIndexOf(bytes, (byte)'\n') + 1;
            },
        };
        var (stream, _) = Connect(Listen(() => served));

        _client.Do(() => stream.Send("one\ntw"u8));
        Patience.Until(() => served.Text == "one\n", "the first line");
        _client.Do(() => stream.Send("o"u8));
        Patience.Until(() => Last(offers) == "two", "the rest of it, offered again");
        _client.Do(() => stream.Send("\nthree\n"u8));
        Patience.Until(() => served.Text == "one\ntwo\nthree\n", "all lines");
        Assert.Equal("two\nthree\n", Last(offers));
    }

    [Fact]
    public void A_frame_of_many_megabytes_arrives_whole_although_its_handler_waits_for_all_of_it()
    {
        const int FrameBytes = 5 << 20;
        var served = new StreamRecorder { OnOffer = (_, bytes) => bytes.Length >= FrameBytes ? bytes.Length : 0 };
        var (stream, _) = Connect(Listen(() => served));
        _client.Do(() => stream.Send(new byte[FrameBytes]));
        Patience.Until(() => served.ConsumedBytes == FrameBytes, "the frame");
    }

    [Fact]
    public void A_refused_connection_is_closed_once_with_the_reason()
    {
        using var probe = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        probe.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        var told = new StreamRecorder();
        _client.Do(() => _client.Environment.Connect((IPEndPoint)probe.LocalEndPoint!, told));

        Patience.Until(() => told.Told.Length > 0, "the refusal");
        Assert.StartsWith(
            $"closed: cannot connect to {probe.LocalEndPoint} from 127.0.0.1: connection refused", told.Told.Single());
    }

    [Fact]
    public void The_peer_sees_a_close_only_after_all_bytes_sent_before_it()
    {
        var served = new StreamRecorder();
        var (stream, told) = Connect(Listen(() => served));
        _client.Do(() =>
        {
            stream.Send(new byte[300_000]);
            stream.Send("the last word"u8);
            stream.Close();
            stream.Send("too late"u8);
        });

        Patience.Until(() => served.Reason is not null, "the close");
        Assert.Equal("closed: the peer closed the stream", served.Told.Single());
        Assert.Equal(300_013, served.ConsumedBytes);
        Assert.EndsWith("the last word", served.Text);
        Assert.DoesNotContain(told.Told, what => what.StartsWith("closed", StringComparison.Ordinal));
    }

    [Fact]
    public void A_handler_may_answer_and_close_while_bytes_still_come()
    {
        var at = Listen(() => new StreamRecorder
        {
            OnOffer = (stream, bytes) =>
            {
                stream.Send("no"u8);
                stream.Close();
                return 0;
            },
        });
        var (stream, told) = Connect(at);
        _client.Do(() => stream.Send(new byte[100_000]));
        Patience.Until(() => told.Reason is not null, "the close");
        Assert.Equal("no", told.Text);
    }

    [Fact]
    public void An_acceptor_that_answers_null_refuses_the_stream()
    {
        var at = Listen(() => null);
        var (_, told) = Connect(at);
        Patience.Until(() => told.Reason is not null, "the refusal");
        Assert.Equal(["connected", "closed: the peer closed the stream"], told.Told);
    }

    [Fact]
    public void A_stream_whose_peer_is_cut_off_is_closed()
    {
        var served = new StreamRecorder();
        var at = Listen(() => served);
        using (var raw = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp))
        {
            raw.Connect(at);
            var garbage = new byte[1000];
            Random.Shared.NextBytes(garbage);
            raw.Send(garbage);
            Patience.Until(() => served.ConsumedBytes == 1000, "the garbage");
            // Ends with a reset, as when a process dies with bytes unread.
            raw.LingerState = new LingerOption(true, 0);
        }

        Patience.Until(() => served.Reason is not null, "the end");
        Assert.Single(served.Told);
        Assert.Contains("the stream failed", served.Reason);
    }

    [Fact]
    public void A_handler_that_throws_loses_its_stream_and_nothing_else()
    {
        var bad = new StreamRecorder { OnOffer = (_, _) => throw new InvalidOperationException("planted") };
        var (stream, told) = Connect(Listen(() => bad));
        _client.Do(() => stream.Send("x"u8));
        Patience.Until(() => told.Reason is not null && bad.Reason is not null, "the close at both ends");
        Assert.Equal("closed: the stream's handler failed", bad.Reason);
        Assert.Equal(1, _server.Do(() => _server.Environment.Counters.HandlerExceptions));

        Bytes_go_there_and_come_back();
    }

    [Fact]
    public void A_handler_that_answers_nonsense_loses_its_stream()
    {
        var bad = new StreamRecorder { OnOffer = (_, bytes) => bytes.Length + 1 };
        var (stream, _) = Connect(Listen(() => bad));
        _client.Do(() => stream.Send("x"u8));
        Patience.Until(() => bad.Reason is not null, "the close");
    }

    [Fact]
    public void A_busy_node_holds_its_peer_back_and_nothing_is_lost()
    {
        const int Chunks = 640;
        const int ChunkBytes = 64 << 10;
        using var release = new ManualResetEventSlim();
        var served = new StreamRecorder();
        var at = Listen(() => served);
        var (stream, _) = Connect(at);
        _server.Environment.Post(new Core.Requests.ActionRequest(() => release.Wait(Patience.Limit)));

        _client.Do(() =>
        {
            for (int i = 0; i < Chunks; i++)
            {
                stream.Send(new byte[ChunkBytes]);
            }
        });

        // What the server holds unread, and the kernel's buffers, are far from all of it; the rest stays with the sender.
        long last;
        do
        {
            last = stream.PendingBytes;
            SpinWait.SpinUntil(() => false, 100);
        }
        while (stream.PendingBytes < last);
        Assert.InRange(last, (long)Chunks * ChunkBytes / 4, (long)Chunks * ChunkBytes);

        release.Set();
        Patience.Until(() => served.ConsumedBytes == (long)Chunks * ChunkBytes, "everything after all");
        Patience.Until(() => stream.PendingBytes == 0, "nothing pending");
    }

    [Fact]
    public void A_closed_listener_accepts_nothing_and_its_port_is_free()
    {
        IControlListener? listener = null;
        var at = _server.Do(() =>
        {
            listener = _server.Environment.Listen(new IPEndPoint(IPAddress.Loopback, 0), new Acceptor(_ => new StreamRecorder()));
            listener.Dispose();
            return listener.LocalEndPoint;
        });
        var (_, told) = Connect(at, mustConnect: false);
        Patience.Until(() => told.Reason is not null, "the refusal");
        _server.Do(() => _server.Environment.Listen(at, new Acceptor(_ => null)));
    }

    [Fact]
    public void A_port_that_is_taken_is_refused_with_its_address()
    {
        var at = Listen(() => null);
        var refusal = Assert.Throws<TransportException>(() => _client.Do(() => _client.Environment.Listen(at, new Acceptor(_ => null))));
        Assert.Contains(at.ToString(), refusal.Message);
    }

    [Fact]
    public void The_end_of_a_node_sends_what_was_queued_and_closes_its_streams()
    {
        var served = new StreamRecorder();
        var (stream, told) = Connect(Listen(() => served));
        _client.Do(() => stream.Send("farewell"u8));
        _client.Dispose();

        Patience.Until(() => served.Reason is not null, "the close");
        Assert.Equal("farewell", served.Text);
        Assert.Equal(["connected"], told.Told);
    }

    private IPEndPoint Listen(Func<IControlStreamHandler?> newHandler) => _server.Do(() =>
        _server.Environment.Listen(new IPEndPoint(IPAddress.Loopback, 0), new Acceptor(_ => newHandler())).LocalEndPoint);

    private (IControlStream Stream, StreamRecorder Told) Connect(IPEndPoint to, bool mustConnect = true)
    {
        var told = new StreamRecorder();
        var stream = _client.Do(() => _client.Environment.Connect(to, told));
        if (mustConnect)
        {
            Patience.Until(() => told.Told.Contains("connected"), "the connection");
        }

        return (stream, told);
    }

    private static int Echo(IControlStream stream, byte[] bytes)
    {
        stream.Send(bytes);
        return bytes.Length;
    }

    private static string? Last(List<string> offers)
    {
        lock (offers)
        {
            return offers.LastOrDefault();
        }
    }
}

public sealed class DefaultTcpControlStreamTests() : TcpControlStreamContract(() => Poller.Create(PollerKind.Default));

public sealed class SelectTcpControlStreamTests() : TcpControlStreamContract(() => Poller.Create(PollerKind.Select));

public sealed class CompletionPortTcpControlStreamTests()
    : TcpControlStreamContract(() => new CompletionPortPoller(new EmulatedPort()));
