using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Transport;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Tests.Infrastructure;

// A node that uses everything the environment offers, at random times: group and unicast sends in runs, a stream to node
// 0, alarms set and cancelled. A protocol without sense, for tests of sameness.
internal sealed class Chatter : IDatagramReceiver
{
    private const int Port = 900;

    private readonly SimulatedEnvironment _life;
    private readonly IDatagramPort _port;
    private readonly Alarm _alarm;
    private readonly Alarm _rival;
    private readonly RecordingAcceptor _acceptor = new();
    private IControlStream? _stream;

    public Chatter(SimulatedEnvironment life)
    {
        _life = life;
        _port = life.OpenPort(new DatagramPortOptions { Port = Port }, this);
        life.OpenPort(new DatagramPortOptions { Group = Bench.Group, Port = Bench.GroupPort }, this);
        _alarm = new Alarm(Speak);
        _rival = new Alarm(() => Heard++);
        life.Schedule(_alarm, TimeSpan.FromMilliseconds(1));
        if (life.Node.Number == 0)
        {
            life.Listen(new IPEndPoint(IPAddress.Any, Port), _acceptor);
        }
    }

    public int Heard { get; private set; }

    public bool IsControl(ReadOnlySpan<byte> firstBytes) => firstBytes[0] < 64;

    public void OnRun(in ReceivedRun run)
    {
        Heard++;
        if (_life.NextRandom() % 8 == 0)
        {
            _life.Cancel(_rival);
        }
    }

    public void OnBatchEnd() => _life.Schedule(_rival, TimeSpan.FromMilliseconds(3));

    private void Speak()
    {
        ulong dice = _life.NextRandom();
        int segments = 1 + (int)(dice % 5);
        var run = new byte[segments * 50];
        run.AsSpan().Fill((byte)(dice >> 8));
        int peer = (int)((dice >> 16) % (ulong)_life.Cluster.Nodes.Count);
        var unicast = new DatagramAddress(new IPEndPoint(_life.Cluster.Nodes[peer].Address, Port));
        _port.Send(run, 50, dice % 3 == 0 ? unicast : Bench.GroupAddress);
        if (_stream is null || dice % 97 == 0)
        {
            _stream?.Close();
            _stream = _life.Connect(new IPEndPoint(_life.Cluster.Nodes[0].Address, Port), new RecordingHandler());
        }

        _stream.Send(run);
        _life.Schedule(_alarm, TimeSpan.FromTicks(1 + (long)(_life.NextRandom() % 50_000)));
    }
}
