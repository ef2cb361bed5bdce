using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Campaigns.Servers;

// One member of an etcd cluster, on a node of its own, with its data in a folder that outlives it.
internal sealed class EtcdMember : IDisposable
{
    private const int ClientPort = 2379;
    private const int PeerPort = 2380;
    private static readonly TimeSpan CallLimit = TimeSpan.FromSeconds(1);

    private readonly NetworkNamespaces _network;
    private readonly IReadOnlyList<int> _members;
    private readonly string _data;
    private readonly HttpClient _http;
    private LoggedProcess? _process;

    public EtcdMember(NetworkNamespaces network, int node, IReadOnlyList<int> members, string data)
    {
        (_network, Node, _members, _data) = (network, node, members, data);
        // This process is on no node: it borrows the member's own.
        _http = new HttpClient(new SocketsHttpHandler
        {
            UseProxy = false,
            PooledConnectionLifetime = TimeSpan.Zero,
            ConnectCallback = (_, _) => ValueTask.FromResult<Stream>(network.Run(node, Connect)),
        })
        { Timeout = CallLimit };
        Start();
    }

    public int Node { get; }

    public Uri Address => new($"http://{_network.Address(Node)}:{ClientPort}");

    public int Id => _process?.Id ?? throw new InvalidOperationException("The member does not run.");

    public string Tail => _process?.Tail ?? "";

    public void Start()
    {
        string peers = string.Join(',', _members.Select(member => $"m{member}=http://{_network.Address(member)}:{PeerPort}"));
        string peer = $"http://{_network.Address(Node)}:{PeerPort}";
        string client = $"http://{_network.Address(Node)}:{ClientPort}";
        _process = new Process(
            _network,
            Node,
            [
                "--name", $"m{Node}", "--data-dir", Path.Combine(_data, $"m{Node}"), "--log-level", "error",
                "--listen-client-urls", client, "--advertise-client-urls", client,
                "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", peers,
            ]);
    }

    public void Kill()
    {
        _process?.Dispose();
        _process = null;
    }

    /// <summary>Whether it is the leader of a quorum; null: it does not answer, or knows of no leader.</summary>
    public bool? IsLeader()
    {
        try
        {
            using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(Address, "v3/maintenance/status"))
            {
                Content = new StringContent("{}", Encoding.UTF8, "application/json"),
            };
            using var answer = _http.Send(request);
            using var json = JsonDocument.Parse(answer.EnsureSuccessStatusCode().Content.ReadAsStream());
            var root = json.RootElement;
            return root.TryGetProperty("leader", out var leader) && leader.GetString() is { } id && id != "0"
                ? id == root.GetProperty("header").GetProperty("member_id").GetString()
                : null;
        }
        catch (Exception exception) when (exception is HttpRequestException or TaskCanceledException or JsonException or SocketException)
        {
            return null;
        }
    }

    public void Dispose()
    {
        Kill();
        _http.Dispose();
    }

    private NetworkStream Connect()
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            socket.ConnectSoon(new IPEndPoint(_network.Address(Node), ClientPort));
            return new NetworkStream(socket, ownsSocket: true);
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    private sealed class Process : LoggedProcess
    {
        public Process(NetworkNamespaces network, int node, IEnumerable<string> arguments)
            : base(network, node, "etcd", arguments) => BeginReading();
    }
}
