using System.Buffers;
using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Streams;

namespace QuickSilver.Core.Tests.Transport.Streams;

// The pipes of a stream against a plain socket, over epoll and over select.
public sealed class SocketPipesTests : IDisposable
{
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly List<StreamThread> _threads = [];
    private Socket? _peer;

    public SocketPipesTests()
    {
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen();
    }

    public void Dispose()
    {
        _threads.ForEach(static thread => thread.End());
        _peer?.Dispose();
        _listener.Dispose();
    }

    [Theory]
    [InlineData(PollerKind.Default)]
    [InlineData(PollerKind.Select)]
    internal void Bytes_that_come_in_parts_are_read_in_parts(PollerKind kind) => OnThread(kind, async pipes =>
    {
        foreach (byte part in (byte[])[1, 2, 3])
        {
            Peer.Send([part, part]);
            var read = await pipes.Incoming.ReadAtLeastAsync(2).ConfigureAwait(false);
            Assert.Equal([part, part], read.Buffer.ToArray());
            pipes.Incoming.AdvanceTo(read.Buffer.End);
        }
    });

    [Theory]
    [InlineData(PollerKind.Default)]
    [InlineData(PollerKind.Select)]
    internal void A_write_larger_than_the_socket_takes_goes_out_whole_and_in_order(PollerKind kind)
    {
        byte[] large = new byte[8 << 20];
        new Random(1).NextBytes(large);
        byte[] received = new byte[large.Length];
        OnThread(kind, async pipes =>
        {
            var reading = new Thread(() => ReceiveAll(received)) { IsBackground = true };
            reading.Start();
            await pipes.Outgoing.WriteAsync(large).ConfigureAwait(false);
            await pipes.FinishAsync().ConfigureAwait(false);
            Assert.True(reading.Join(Patience.Limit));
        });
        Assert.Equal(large, received);
    }

    [Theory]
    [InlineData(PollerKind.Default)]
    [InlineData(PollerKind.Select)]
    internal void A_writer_waits_for_a_peer_that_does_not_read(PollerKind kind) => OnThread(kind, async pipes =>
    {
        var last = pipes.Outgoing.WriteAsync(new byte[1 << 20]);
        while (last.IsCompleted)
        {
            last = pipes.Outgoing.WriteAsync(new byte[1 << 20]);
            await _threads[0].Delay(TimeSpan.FromMilliseconds(1)).ConfigureAwait(false);
        }

        pipes.Close();
        await Assert.ThrowsAnyAsync<IOException>(async () => await last.ConfigureAwait(false)).ConfigureAwait(false);
    });

    [Theory]
    [InlineData(PollerKind.Default)]
    [InlineData(PollerKind.Select)]
    internal void A_peer_is_held_back_while_nothing_is_read_and_continues_afterwards(PollerKind kind)
    {
        const int Sent = 24 << 20;
        int taken = 0;
        OnThread(kind, async pipes =>
        {
            var sending = new Thread(() => SendAll(Sent, ref taken)) { IsBackground = true };
            sending.Start();
            int before = -1;
            // Until the peer stands still.
            while (Volatile.Read(ref taken) != before || before == 0)
            {
                before = Volatile.Read(ref taken);
                await _threads[0].Delay(TimeSpan.FromMilliseconds(200)).ConfigureAwait(false);
            }

            Assert.True(before < Sent, "The peer was not held back.");
            Assert.True(pipes.Incoming.TryRead(out var held));
            long read = held.Buffer.Length;
            Assert.InRange(read, 1, 128 << 10);
            pipes.Incoming.AdvanceTo(held.Buffer.End);
            while (read < Sent)
            {
                var more = await pipes.Incoming.ReadAsync().ConfigureAwait(false);
                read += more.Buffer.Length;
                pipes.Incoming.AdvanceTo(more.Buffer.End);
            }

            Assert.True(sending.Join(Patience.Limit));
        });
    }

    [Theory]
    [InlineData(PollerKind.Default)]
    [InlineData(PollerKind.Select)]
    internal void The_end_of_the_peer_comes_behind_its_bytes_and_this_side_may_continue(PollerKind kind) => OnThread(kind, async pipes =>
    {
        Peer.Send([7]);
        Peer.Shutdown(SocketShutdown.Send);
        byte[] all = await ReadToEndAsync(pipes).ConfigureAwait(false);
        Assert.Equal([7], all);
        await pipes.Outgoing.WriteAsync(new byte[] { 8 }).ConfigureAwait(false);
        await pipes.FinishAsync().ConfigureAwait(false);
        byte[] answer = new byte[1];
        Assert.Equal(1, Peer.Receive(answer));
        Assert.Equal(8, answer[0]);
    });

    [Theory]
    [InlineData(PollerKind.Default)]
    [InlineData(PollerKind.Select)]
    internal void A_reset_in_the_middle_ends_a_read_with_its_reason(PollerKind kind) => OnThread(kind, async pipes =>
    {
        var read = pipes.Incoming.ReadAsync();
        Peer.LingerState = new LingerOption(enable: true, 0);
        Peer.Dispose();
        var failure = await Assert.ThrowsAsync<IOException>(async () => await read.ConfigureAwait(false)).ConfigureAwait(false);
        Assert.Equal(SocketError.ConnectionReset, Assert.IsType<SocketException>(failure.InnerException).SocketErrorCode);
    });

    [Theory]
    [InlineData(PollerKind.Default)]
    [InlineData(PollerKind.Select)]
    internal void A_close_in_the_middle_ends_the_read_that_waits(PollerKind kind) => OnThread(kind, async pipes =>
    {
        var read = pipes.Incoming.ReadAsync();
        Assert.False(read.IsCompleted);
        pipes.Close();
        pipes.Close();
        await Assert.ThrowsAsync<IOException>(async () => await read.ConfigureAwait(false)).ConfigureAwait(false);
    });

    [Theory]
    [InlineData(PollerKind.Default)]
    [InlineData(PollerKind.Select)]
    internal void A_read_ends_when_its_token_is_cancelled(PollerKind kind) => OnThread(kind, async pipes =>
    {
        using var limit = new CancellationTokenSource();
        var read = pipes.Incoming.ReadAsync(limit.Token);
        limit.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await read.ConfigureAwait(false)).ConfigureAwait(false);
    });

    [Fact]
    public void A_port_without_a_listener_refuses_the_connection()
    {
        var to = (IPEndPoint)_listener.LocalEndPoint!;
        _listener.Dispose();
        var thread = NewThread(PollerKind.Default);
        Patience.Result(
            Run(thread, async () =>
            {
                var pipes = new SocketPipes(thread, SmallSegments.Open(AddressFamily.InterNetwork));
                var refusal = await Assert.ThrowsAsync<SocketException>(
                    () => pipes.ConnectAsync(null, to, CancellationToken.None)).ConfigureAwait(false);
                Assert.Equal(SocketError.ConnectionRefused, refusal.SocketErrorCode);
                pipes.Close();
            }),
            "the refusal");
    }

    private Socket Peer => _peer!;

    private StreamThread NewThread(PollerKind kind)
    {
        var thread = new StreamThread("streams", () => Poller.Create(kind), new LogRecorder());
        _threads.Add(thread);
        return thread;
    }

    private void OnThread(PollerKind kind, Func<SocketPipes, Task> test)
    {
        var thread = NewThread(kind);
        var socket = SmallSegments.Open(AddressFamily.InterNetwork);
        Patience.Result(
            Run(thread, async () =>
            {
                var pipes = new SocketPipes(thread, socket);
                try
                {
                    await pipes.ConnectAsync(null, (IPEndPoint)_listener.LocalEndPoint!, CancellationToken.None).ConfigureAwait(false);
                    _peer = _listener.Accept();
                    await test(pipes).ConfigureAwait(false);
                    Assert.True(thread.IsCurrent, "The test left the stream thread.");
                }
                finally
                {
                    pipes.Close();
                }
            }),
            "the test on the stream thread");
    }

    private static Task<bool> Run(StreamThread thread, Func<Task> method)
    {
        var done = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        thread.Schedule(
            async _ =>
            {
                try
                {
                    await method().ConfigureAwait(false);
                    done.SetResult(true);
                }
                catch (Exception failure)
                {
                    done.SetException(failure);
                }
            },
            null);
        return done.Task;
    }

    private static async Task<byte[]> ReadToEndAsync(SocketPipes pipes)
    {
        while (true)
        {
            var read = await pipes.Incoming.ReadAsync().ConfigureAwait(false);
            if (read.IsCompleted)
            {
                return read.Buffer.ToArray();
            }

            pipes.Incoming.AdvanceTo(read.Buffer.Start, read.Buffer.End);
        }
    }

    private void ReceiveAll(byte[] into)
    {
        for (int at = 0; at < into.Length;)
        {
            at += Peer.Receive(into.AsSpan(at));
        }
    }

    private void SendAll(int bytes, ref int taken)
    {
        byte[] piece = new byte[64 << 10];
        while (taken < bytes)
        {
            Volatile.Write(ref taken, taken + Peer.Send(piece));
        }
    }
}
