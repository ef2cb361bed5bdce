using System.Net;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport;
using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Machines.Time;

namespace QuickSilver.Simulation.Network.Streams;

// A connection from the first knock to its end. The connecting side gets OnConnected or OnClosed. The accepting side is asked by
// OnAccept and gets bytes after that.
internal sealed class SimulatedConnection
{
    private static readonly TimeSpan KnockAgain = TimeSpan.FromMilliseconds(200);
    private static readonly TimeSpan NoRouteDelay = TimeSpan.FromSeconds(3);

    private readonly SimulatedNetwork _network;
    private readonly IPEndPoint _remote;
    private readonly int _clientPort;
    private SimulatedMachine? _serverNode;
    private SimulatedStream? _server;

    private SimulatedConnection(ISimulatedLife life, IPEndPoint remote, IControlStreamHandler handler)
    {
        _network = life.Cluster.Network;
        _remote = remote;
        Client = new SimulatedStream(this, life, remote) { Handler = handler };
        _clientPort = life.Endpoints.NextEphemeralPort();
    }

    internal SimulatedStream Client { get; }

    internal SeededRandom Random => _network.Random;

    internal static IControlStream Begin(ISimulatedLife life, IPEndPoint remote, IControlStreamHandler handler)
    {
        var connection = new SimulatedConnection(life, remote, handler);
        if (life.IsAlive)
        {
            life.Endpoints.Connections.Add(connection);
            connection.Start();
        }
        else
        {
            connection.Client.Shut();
        }

        return connection.Client;
    }

    internal bool Joins(SimulatedMachine one, SimulatedMachine other) =>
        (Client.Life.Node == one && _serverNode == other) || (Client.Life.Node == other && _serverNode == one);

    /// <summary>Ends it for both, now.</summary>
    internal void Break(string reason)
    {
        Client.Outgoing?.Cut();
        Client.Incoming?.Cut();
        Client.Fail(reason);
        _server?.Fail(reason);
    }

    internal void OnNodeDied(ISimulatedLife life, bool silently)
    {
        foreach (var end in _server is null ? [Client] : new[] { Client, _server })
        {
            if (end.Life != life || end.IsClosed)
            {
                continue;
            }

            end.Shut();
            if (silently)
            {
                _network.Time.After(SimulatedNetwork.StreamTimeout, new ActionEvent(() => Break(Timeout())));
            }
            else
            {
                end.Outgoing?.End("the peer reset the connection");
            }
        }
    }

    internal static string Timeout() => $"timed out after {SimulatedNetwork.StreamTimeout.TotalSeconds} s without data from the peer";

    private void Start()
    {
        var from = Client.Life.Node;
        if (Client.Life.Refusal(SystemCalls.Connect) is { } refusal)
        {
            Client.Outgoing = new StreamPipe(_network, _network.Link(from.Number, from.Number));
            _network.Time.At(_network.Now, new ActionEvent(() => Client.Fail(refusal)));
            return;
        }

        _serverNode = _network.Find(Destination.Of(_remote.Address, _remote.Port).AddressBits, from);
        if (_serverNode is null)
        {
            Client.Outgoing = new StreamPipe(_network, _network.Link(from.Number, from.Number));
            _network.Time.After(NoRouteDelay, new ActionEvent(() => Client.Fail("no route to host")));
            return;
        }

        var there = _network.Link(from.Number, _serverNode.Number);
        var back = _network.Link(_serverNode.Number, from.Number);
        Client.Outgoing = new StreamPipe(_network, there);
        Client.Incoming = new StreamPipe(_network, back) { Reader = Client };
        _network.Time.After(there.StreamDelay(KnockAgain), new ActionEvent(Knock));
        _network.Time.After(SimulatedNetwork.StreamTimeout, new ActionEvent(GiveUpConnecting));
    }

    private void Knock()
    {
        if (Client.IsClosed)
        {
            return;
        }

        var node = _serverNode!;
        if (node.IsSilent || _network.Link(Client.Life.Node.Number, node.Number).HoldsStreams)
        {
            _network.Time.After(KnockAgain, new ActionEvent(Knock));
        }
        else if (node.Life is { } life && FindListener(life) is not null)
        {
            _network.Time.At(_network.Now, new AcceptEvent(this, life));
        }
        else
        {
            Refuse();
        }
    }

    private void Accept(ISimulatedLife life)
    {
        if (Client.IsClosed)
        {
            return;
        }

        if (FindListener(life) is not { } listener)
        {
            Refuse();
            return;
        }

        if (life.Refusal(SystemCalls.Accept) is not null)
        {
            _network.Time.After(KnockAgain, new ActionEvent(Knock));
            return;
        }

        var from = new IPEndPoint(Client.Life.LocalAddress, _clientPort);
        if (!HasDescriptor(life, listener.Acceptor, from))
        {
            return;
        }

        var server = new SimulatedStream(this, life, from)
        {
            Outgoing = Client.Incoming,
            Incoming = Client.Outgoing,
            Peer = Client.Life.Node.Identity is { } name ? new PeerIdentity(name, IsShared: true) : null,
        };
        life.Trace(TraceKind.StreamEvent, 3);
        server.Handler = listener.Acceptor.OnAccept(server);
        if (server.Handler is null || server.IsClosed)
        {
            server.Shut();
            Refuse();
            return;
        }

        _server = server;
        server.Incoming!.Reader = server;
        life.Endpoints.Connections.Add(this);
        server.MarkAccepted();
    }

    // As a listener of a machine does. Each connection of the node has a descriptor, and those of its process are not counted.
    private bool HasDescriptor(ISimulatedLife life, IControlAcceptor acceptor, IPEndPoint from)
    {
        if (life.Descriptors is not { } descriptors)
        {
            return true;
        }

        descriptors.OnOpened(life.Endpoints.Connections.Count);
        if (descriptors.IsShort)
        {
            acceptor.OnFewDescriptors(from);
        }

        if (descriptors.IsSpent)
        {
            acceptor.OnRefused(from, descriptors.Shortage, StreamRefusal.NoRoom);
            Refuse();
        }

        return !descriptors.IsSpent;
    }

    private SimulatedListener? FindListener(ISimulatedLife life) =>
        life.Endpoints.FindListener(_remote.Port, IPAddress.IsLoopback(_remote.Address));

    private void Refuse() => Client.Incoming!.End("connection refused");

    private void GiveUpConnecting()
    {
        if (!Client.IsConnected)
        {
            Break(Timeout());
        }
    }

    private sealed class AcceptEvent(SimulatedConnection connection, ISimulatedLife life) : NodeEvent(life)
    {
        internal override CompletionKind Kind => CompletionKind.Accepted;

        internal override void Execute() => connection.Accept(Life);

        internal override void Discard() => connection.Refuse();
    }
}
