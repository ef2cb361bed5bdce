using System.Net;
using QuickSilver.Core.Transport;
using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Network;

namespace QuickSilver.Simulation.Tests.Infrastructure;

// Some nodes, each with a unicast port 700 and a group port, and a sender of numbered datagrams.
internal sealed class Bench
{
    public const int UnicastPort = 700;
    public const int GroupPort = 4000;

    public static readonly IPAddress Group = IPAddress.Parse("239.192.0.1");

    public static readonly DatagramAddress GroupAddress = new(new IPEndPoint(Group, GroupPort));

    private int _nextNumber;

    public Bench(int nodes = 2, SimulationOptions? options = null)
    {
        Cluster = new SimulatedMachines(options ?? new SimulationOptions { Seed = 7, TrackLeases = true });
        foreach (var node in Cluster.AddNodes(nodes))
        {
            Open(node);
        }
    }

    public SimulatedMachines Cluster { get; }

    public List<SimulatedPort> Ports { get; } = [];

    public List<RecordingReceiver> Unicast { get; } = [];

    public List<RecordingReceiver> Multicast { get; } = [];

    public SimulatedNetwork Network => Cluster.Network;

    public DatagramAddress AddressOf(int node) => new(new IPEndPoint(Cluster.Nodes[node].Address, UnicastPort));

    /// <summary>Sends numbered datagrams, in runs, from node 0; returns the outcome of the last.</summary>
    public SendOutcome Send(DatagramAddress to, int count = 1, int bytes = 100, int perRun = 1, int from = 0)
    {
        var outcome = SendOutcome.Sent;
        for (int sent = 0; sent < count; sent += perRun)
        {
            int segments = Math.Min(perRun, count - sent);
            outcome = Ports[from].Send(NumberedRun(segments, bytes), bytes, to);
        }

        return outcome;
    }

    /// <summary>Sends one datagram at a time, with this much time between.</summary>
    public void SendSpread(DatagramAddress to, int count, TimeSpan apart, int bytes = 100)
    {
        for (int i = 0; i < count; i++)
        {
            Send(to, 1, bytes);
            Cluster.Run(apart);
        }
    }

    public void Run(double milliseconds = 1000) => Cluster.Run(TimeSpan.FromMilliseconds(milliseconds));

    public byte[] NumberedRun(int segments, int bytes)
    {
        var run = new byte[segments * bytes];
        for (int i = 0; i < segments; i++)
        {
            BitConverter.TryWriteBytes(run.AsSpan(i * bytes), _nextNumber++);
            run.AsSpan((i * bytes) + 4, bytes - 4).Fill((byte)i);
        }

        return run;
    }

    private void Open(SimulatedMachine node)
    {
        var life = node.Environment;
        Unicast.Add(new RecordingReceiver(life));
        Multicast.Add(new RecordingReceiver(life));
        Ports.Add((SimulatedPort)life.OpenPort(new DatagramPortOptions { Port = UnicastPort }, Unicast[^1]));
        life.OpenPort(new DatagramPortOptions { Group = Group, Port = GroupPort }, Multicast[^1]);
    }
}
