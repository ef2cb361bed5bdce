using System.Diagnostics;
using System.Globalization;
using System.Net;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Campaigns.Servers;

// Three members of etcd, three servers over them, members that stay and others that join and leave, each on a node of its own behind one
// impaired switch.
internal sealed class ServersRig : IDisposable
{
    private const int ServicePort = 7400;
    private const int FirstServer = 1;
    private const int FirstEtcd = 4;
    private const int FirstMember = 7;
    private const int Copies = 3;
    // What costs a connection each time.
    private const int SlowPoll = 300;

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("servers");
    private readonly NetworkNamespaces _network;
    private readonly SecretFile? _secret;
    private readonly string _security;
    private readonly List<Server> _lives = [];

    public ServersRig(ServersPlan plan)
    {
        Plan = plan;
        _network = NetworkNamespaces.Create(FirstMember - 1 + plan.Stayers + plan.Roamers);
        try
        {
            Switch = new ImpairedSwitch(_network, plan.Seed);
            Switch.SetAll(new Impairment { LossPercent = plan.LossPercent });
            _secret = plan.IsSealed ? new SecretFile() : null;
            _security = _secret?.Path ?? "none";
            int[] members = [.. Enumerable.Range(FirstEtcd, Copies)];
            Etcd = [.. members.Select(node => new EtcdMember(_network, node, members, _folder.FullName))];
            Await("etcd to elect a leader", () => EtcdLeader() is not null, SlowPoll);
            Servers = [.. Enumerable.Range(FirstServer, Copies).Select(Start)];
            Await("a server to lead", () => Leader() is not null);
            Stayers = [.. Enumerable.Range(0, plan.Stayers).Select(StartStayer)];
            Await("all to be members", () => Stayers.All(static member => member.IsReady));
            Roamers = [.. Enumerable.Range(0, plan.Roamers).Select(StartRoamer)];
            Control = new ControlStream(_network, FirstMember, FirstMember + 1, plan.Rate);
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    public ServersPlan Plan { get; }

    public ImpairedSwitch Switch { get; } = null!;

    public EtcdMember[] Etcd { get; } = [];

    /// <summary>The current life of each server.</summary>
    public Server[] Servers { get; } = [];

    /// <summary>All lives of all servers, in the order in which they started.</summary>
    public IReadOnlyList<Server> Lives => _lives;

    public Member[] Stayers { get; } = [];

    public Member[] Roamers { get; } = [];

    public ControlStream Control { get; } = null!;

    public static void Await(string what, Func<bool> condition, int everyMilliseconds = 10)
    {
        long begun = Stopwatch.GetTimestamp();
        while (!condition())
        {
            if (Stopwatch.GetElapsedTime(begun) > NodeProcess.Patience)
            {
                throw new TimeoutException($"waited in vain for {what}");
            }

            Thread.Sleep(everyMilliseconds);
        }
    }

    /// <summary>The server that leads and was the last to say so; null: none.</summary>
    public Server? Leader() => Servers.Where(static server => !server.HasExited && server.Leads).MaxBy(static server => server.LedAt);

    public EtcdMember? EtcdLeader() => Array.Find(Etcd, static member => member.IsLeader() is true);

    /// <summary>Waits until a server leads all that stay, and all servers and members of etcd are there.</summary>
    public Server AwaitSettled()
    {
        Server? leader = null;
        Await("a server to lead all", () => Servers.All(static server => server is { HasExited: false, IsListening: true })
            && (leader = Leader()) is not null && leader.Nodes >= Plan.Stayers);
        Await("etcd to be whole", () => Etcd.All(static member => member.IsLeader() is not null), SlowPoll);
        // What the last fault left behind, such as members that come back, has its time.
        Thread.Sleep(TimeSpan.FromSeconds(1));
        return Leader() ?? leader!;
    }

    public void Restart(Server ended)
    {
        int slot = Array.IndexOf(Servers, ended);
        Servers[slot] = Start(ended.Node);
    }

    public void Dispose()
    {
        Control?.Dispose();
        foreach (IDisposable process in (IEnumerable<IDisposable>)[.. Roamers, .. Stayers, .. _lives, .. Etcd])
        {
            process.Dispose();
        }

        Switch?.Dispose();
        _network.Dispose();
        _secret?.Dispose();
        _folder.Delete(recursive: true);
    }

    private Server Start(int node)
    {
        string etcd = string.Join(',', Etcd.Select(static member => member.Address));
        var server = new Server(
            _network, node, _security, "--listen", new IPEndPoint(_network.Address(node), ServicePort).ToString(), "--etcd", etcd);
        _lives.Add(server);
        return server;
    }

    private Member StartStayer(int index) => StartMember(
        "stay",
        FirstMember + index,
        Plan.Stayers,
        index,
        // One stream is fast enough to show a pause; the others show order between several senders.
        index == 0 ? Plan.Rate : Plan.Rate / 5);

    private Member StartRoamer(int index) => StartMember("roam", FirstMember + Plan.Stayers + index, Plan.Stayers, index);

    private Member StartMember(string role, int node, params int[] numbers)
    {
        string services = string.Join(
            ',', Enumerable.Range(FirstServer, Copies).Select(server => new IPEndPoint(_network.Address(server), ServicePort)));
        return new Member(
            _network,
            node,
            [
                role, services, _network.Address(node).ToString(), _security,
                .. numbers.Select(static number => number.ToString(CultureInfo.InvariantCulture)),
            ]);
    }
}
