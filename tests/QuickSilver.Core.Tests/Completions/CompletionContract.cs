using System.Net;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Storage;
using QuickSilver.Core.Transport;

namespace QuickSilver.Core.Tests.Completions;

// What the core thread is given, whatever lies beneath: one suite for each poller of a machine, and for the simulator.
public abstract class CompletionContract : IDisposable
{
    private readonly CompletionHouse _house;

    internal CompletionContract(CompletionHouse house)
    {
        _house = house;
    }

    public void Dispose()
    {
        _house.Dispose();
        GC.SuppressFinalize(this);
    }

    [Fact]
    public void A_run_that_came_is_yielded_once_and_in_order()
    {
        var told = new CompletionRecording();
        var (port, to) = OpenPort(told);
        for (int first = 0; first < 300; first += 10)
        {
            _house.Do(() => SendNumbers(port, to, first, 10));
        }

        _house.Until(() => told.Runs.Count >= 300, "all runs");
        _house.Pass();
        Assert.Equal(Enumerable.Range(0, 300), told.Runs);
    }

    [Fact]
    public void A_port_that_is_closed_yields_nothing_more()
    {
        var told = new CompletionRecording { OnEachRun = port => port.Dispose() };
        var (port, to) = OpenPort(told, segmentationOffload: false);
        _house.Do(() =>
        {
            for (int i = 0; i < 10; i++)
            {
                SendNumbers(port, to, i, 1);
            }
        });
        _house.Until(() => told.Runs.Count > 0, "the first");
        _house.Pass();
        Assert.Equal([0], told.Runs);
    }

    [Fact]
    public void Each_port_gets_its_own()
    {
        CompletionRecording[] told = [new(), new(), new()];
        var ports = told.Select(receiver => OpenPort(receiver)).ToArray();
        _house.Do(() =>
        {
            for (int i = 0; i < 30; i++)
            {
                SendNumbers(ports[0].Port, ports[i % 3].Address, i, 1);
            }
        });
        _house.Until(() => told.All(receiver => receiver.Runs.Count == 10), "ten each");
        Assert.All(told.Index(), entry => Assert.All(entry.Item.Runs, number => Assert.Equal(entry.Index, number % 3)));
    }

    [Fact]
    public void Without_packet_memory_runs_wait_and_are_yielded_when_there_is_some()
    {
        // What came is kept, so that its memory does not do for what comes next.
        var told = new CompletionRecording { Kept = [] };
        var (port, to) = OpenPort(told, segmentationOffload: false);
        _house.Pass();
        var taken = _house.Do(TakeAllMemory);
        _house.Do(() =>
        {
            for (int i = 0; i < 40; i++)
            {
                SendNumbers(port, to, i, 1);
            }
        });
        _house.Pass();
        int before = _house.Do(() => told.Runs.Count);
        _house.Do(() => taken.ForEach(lease => lease.Release()));
        _house.Until(() => told.Runs.Count == 40, "the rest");
        Assert.Equal(Enumerable.Range(0, 40), told.Runs);
        Assert.True(before < 40);
        _house.Do(() => told.Kept.ForEach(lease => lease.Release()));
    }

    [Fact]
    public void The_memory_of_ports_comes_back_when_they_close()
    {
        var told = new CompletionRecording();
        var (port, to) = OpenPort(told);
        _house.Do(() => SendNumbers(port, to, 0, 8));
        _house.Until(() => told.Runs.Count == 8, "the runs");
        _house.Do(port.Dispose);
        // One block is offered to the next receive, and small runs share one.
        _house.Until(() => _house.Environment.Buffers.LeasedBlocks <= 2, "the memory");
    }

    [Fact]
    public void A_stream_is_accepted_once_and_brings_its_bytes_in_order()
    {
        var (client, _, server, acceptor) = Connect();
        _house.Do(() =>
        {
            client.Send("one "u8);
            client.SendShared("two "u8.ToArray());
            client.Send("three"u8);
        });
        _house.Until(() => server.Bytes.ToString() == "one two three", "the bytes");
        Assert.Single(acceptor.Accepted);
        Assert.Empty(server.Told);
    }

    [Fact]
    public void Bytes_that_the_system_has_no_room_for_are_sent_when_it_has()
    {
        const int Bytes = 12 << 20;
        var (client, _, server, _) = Connect();
        _house.Do(() => client.SendShared(new byte[Bytes]));
        _house.Until(() => server.ByteCount == Bytes, "all bytes");
        _house.Until(() => client.PendingBytes == 0, "nothing left to send");
    }

    [Fact]
    public void Both_ends_can_send_much_at_the_same_time()
    {
        const int Bytes = 6 << 20;
        var (client, told, server, acceptor) = Connect();
        _house.Do(() =>
        {
            client.SendShared(new byte[Bytes]);
            acceptor.Accepted[0].SendShared(new byte[Bytes]);
        });
        _house.Until(() => server.ByteCount == Bytes && told.ByteCount == Bytes, "all bytes, both ways");
    }

    [Fact]
    public void All_bytes_come_before_the_end_and_the_end_comes_once()
    {
        var (client, _, server, _) = Connect();
        _house.Do(() =>
        {
            client.SendShared(new byte[100_000]);
            client.Send("the last word"u8);
            client.Close();
        });
        _house.Until(() => server.Told.Count > 0, "the end");
        _house.Pass();
        Assert.Equal((100_013L, "closed: the peer closed the stream"), (server.ByteCount, server.Told.Single()));
    }

    [Fact]
    public void A_stream_that_is_closed_yields_nothing_more()
    {
        var (client, told, _, acceptor) = Connect();
        _house.Do(() =>
        {
            acceptor.Accepted[0].Send("late"u8);
            client.Close();
        });
        _house.Pass();
        Assert.Equal(["connected"], told.Told);
        Assert.Equal(0, told.ByteCount);
    }

    [Fact]
    public void A_failure_is_reported_once_with_its_reason()
    {
        var at = Listen(new CompletionRecording(), out var listener);
        var told = new CompletionRecording();
        _house.Do(() =>
        {
            listener.Dispose();
            _house.Environment.Connect(at, told);
        });
        _house.Until(() => told.Told.Count > 0, "the refusal");
        _house.Pass();
        Assert.Contains("connection refused", told.Told.Single());
    }

    [Fact]
    public void A_disk_reports_the_end_of_each_operation_in_order()
    {
        var told = new CompletionRecording();
        INodeLog? log = null;
        _house.Do(() => log = _house.Environment.OpenLog(new LogOptions { Name = "log" }, told));
        _house.Until(() => told.Told.Count == 1, "the opening");
        for (int i = 1; i <= 5; i++)
        {
            int end = i * 100;
            _house.Do(() =>
            {
                log!.Append(new byte[100]);
                log.Sync();
            });
            _house.Until(() => told.Told[^1] == $"synced {end}", "the sync");
        }

        _house.Do(() => log!.Dispose());
        _house.Until(() => told.Told[^1] == "closed", "the close");
        Assert.Equal("opened", told.Told[0]);
    }

    private (IDatagramPort Port, DatagramAddress Address) OpenPort(CompletionRecording told, bool segmentationOffload = true)
    {
        var options = new DatagramPortOptions { SegmentationOffload = segmentationOffload };
        var port = _house.Do(() => _house.Environment.OpenPort(options, told));
        return (port, new DatagramAddress(port.LocalEndPoint));
    }

    private IPEndPoint Listen(CompletionRecording acceptor, out IControlListener listener)
    {
        var opened = listener = _house.Do(
            () => _house.Environment.Listen(new IPEndPoint(_house.Environment.LocalAddress, 0), acceptor));
        return opened.LocalEndPoint;
    }

    private (IControlStream Client, CompletionRecording Told, CompletionRecording Server, CompletionRecording Acceptor) Connect()
    {
        var server = new CompletionRecording();
        var acceptor = new CompletionRecording { Acceptance = server };
        var at = Listen(acceptor, out _);
        var told = new CompletionRecording();
        var client = _house.Do(() => _house.Environment.Connect(at, told));
        _house.Until(() => told.Told.Count == 1 && acceptor.Accepted.Count == 1, "the connection");
        return (client, told, server, acceptor);
    }

    private List<Lease> TakeAllMemory()
    {
        var taken = new List<Lease>();
        while (_house.Environment.Buffers.TryRent() is { } lease)
        {
            taken.Add(lease);
        }

        return taken;
    }

    private static void SendNumbers(IDatagramPort port, DatagramAddress to, int first, int count)
    {
        var run = new byte[count * sizeof(int)];
        for (int i = 0; i < count; i++)
        {
            BitConverter.TryWriteBytes(run.AsSpan(i * sizeof(int)), first + i);
        }

        port.Send(run, sizeof(int), to);
    }
}
