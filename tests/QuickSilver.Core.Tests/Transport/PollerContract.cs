using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;

namespace QuickSilver.Core.Tests.Transport;

// What each poller must do; a poller passes by inheriting it.
public abstract class PollerContract : IDisposable
{
    private readonly IPoller _poller;
    private readonly Socket _receiver = NewSocket();
    private readonly Socket _other = NewSocket();
    private readonly Socket _sender = NewSocket();
    private readonly IReadySource[] _ready = new IReadySource[8];

    internal PollerContract(IPoller poller)
    {
        _poller = poller;
    }

    public void Dispose()
    {
        _poller.Dispose();
        _receiver.Dispose();
        _other.Dispose();
        _sender.Dispose();
    }

    [Fact]
    public void Reports_a_socket_that_holds_something_until_it_is_drained()
    {
        var source = new Source();
        _poller.Register(_receiver, source);
        Assert.Equal(0, _poller.Wait(TimeSpan.Zero, _ready));

        SendTo(_receiver);
        Assert.Equal(1, _poller.Wait(Patience.Limit, _ready));
        Assert.Same(source, _ready[0]);
        Assert.Equal(1, _poller.Wait(Patience.Limit, _ready));

        Drain(_receiver);
        Assert.Equal(0, _poller.Wait(TimeSpan.Zero, _ready));
    }

    [Fact]
    public void Tells_sockets_apart()
    {
        var one = new Source();
        var two = new Source();
        _poller.Register(_receiver, one);
        _poller.Register(_other, two);

        SendTo(_other);
        Assert.Equal(1, _poller.Wait(Patience.Limit, _ready));
        Assert.Same(two, _ready[0]);

        SendTo(_receiver);
        Assert.Equal(2, _poller.Wait(Patience.Limit, _ready));
        Assert.Equal([one, two], _ready[..2].OrderBy(source => ReferenceEquals(source, two)));
    }

    [Fact]
    public void Forgets_a_socket_and_reuses_its_place()
    {
        _poller.Register(_receiver, new Source());
        _poller.Unregister(_receiver);
        SendTo(_receiver);
        Assert.Equal(0, _poller.Wait(TimeSpan.Zero, _ready));

        var two = new Source();
        _poller.Register(_other, two);
        SendTo(_other);
        Assert.Equal(1, _poller.Wait(Patience.Limit, _ready));
        Assert.Same(two, _ready[0]);
    }

    [Fact]
    public void A_wake_from_another_thread_ends_a_wait_without_end()
    {
        var wait = Task.Run(() => _poller.Wait(Timeout.InfiniteTimeSpan, _ready));
        _poller.Wake();
        Assert.Equal(0, Patience.Result(wait, "the wake"));
    }

    [Fact]
    public void A_wake_before_the_wait_is_not_lost_and_counts_once()
    {
        _poller.Wake();
        _poller.Wake();
        Assert.Equal(0, _poller.Wait(Timeout.InfiniteTimeSpan, _ready));

        var second = Task.Run(() => _poller.Wait(Timeout.InfiniteTimeSpan, _ready));
        Patience.Not(second, "the first wait left a wake");
        _poller.Wake();
        Patience.Result(second, "the third wake");
    }

    [Fact]
    public void The_end_of_the_time_ends_a_wait()
    {
        var wait = Task.Run(() => _poller.Wait(TimeSpan.FromMicroseconds(300), _ready));
        Assert.Equal(0, Patience.Result(wait, "the end of the time"));
    }

    [Fact]
    public void Waiting_for_a_wake_only_leaves_what_sockets_hold_to_the_next_wait()
    {
        _poller.Register(_receiver, new Source());
        SendTo(_receiver);
        _poller.WaitForWake(TimeSpan.FromMicroseconds(100));
        Assert.Equal(1, _poller.Wait(Patience.Limit, _ready));

        var wait = Task.Run(() =>
        {
            _poller.WaitForWake(Timeout.InfiniteTimeSpan);
            return true;
        });
        Patience.Not(wait, "a socket ended the wait for a wake");
        _poller.Wake();
        Patience.Result(wait, "the wake");
    }

    [Fact]
    public void A_wake_after_the_end_is_harmless()
    {
        _poller.Dispose();
        _poller.Wake();
    }

    private void SendTo(Socket socket) => _sender.SendTo([1], socket.LocalEndPoint!);

    private static void Drain(Socket socket)
    {
        var buffer = new byte[16];
        while (socket.Receive(buffer, SocketFlags.None, out var error) > 0 && error == SocketError.Success)
        {
        }
    }

    private static Socket NewSocket()
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp) { Blocking = false };
        socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        return socket;
    }

    private sealed class Source : IReadySource;
}
