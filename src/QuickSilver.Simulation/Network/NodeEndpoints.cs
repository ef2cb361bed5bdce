using System.Net;
using QuickSilver.Core.Transport;
using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Machines.Time;
using QuickSilver.Simulation.Network.Streams;

namespace QuickSilver.Simulation.Network;

// The ports, listeners and connections of one life of a node: what its system would list as its sockets.
internal sealed class NodeEndpoints(ISimulatedLife life)
{
    private const int FirstEphemeralPort = 32768;
    private const int LastPort = 65535;

    // By address: the first of the ports that share it, in the order of opening.
    private readonly Dictionary<ulong, SimulatedPort> _ports = [];
    // Null until it listens, which one node of a cluster does.
    private Dictionary<int, SimulatedListener>? _listeners;
    private int _nextEphemeralPort = FirstEphemeralPort;

    /// <summary>One, but for the node that hosts the membership service.</summary>
    internal List<SimulatedConnection> Connections { get; } = new(1);

    /// <summary>Whether others can connect to it: it hosts the membership service.</summary>
    internal bool IsListening => _listeners is { Count: > 0 };

    internal SimulatedPort OpenPort(DatagramPortOptions options, IDatagramReceiver receiver)
    {
        CheckUsable("open a port");
        var address = options.Group ?? life.LocalAddress;
        bool isGroup = options.Group is not null;
        if (isGroup && !Destination.Of(address, options.Port).IsGroup)
        {
            throw new TransportException($"{address} is not a multicast address.");
        }

        if (options.Port is < 0 or > LastPort || (isGroup && options.Port == 0))
        {
            throw new TransportException($"Port {options.Port} cannot be opened{(isGroup ? " for a group" : "")}.");
        }

        bool joins = isGroup && options.Receives;
        if (life.Refusal(joins ? SystemCalls.OpenGroup : SystemCalls.OpenPort) is { } refusal)
        {
            throw new TransportException($"Cannot open a datagram port at {address}:{options.Port} of node {life.Node.Number}: {refusal}.");
        }

        int number = options.Port == 0 ? FreePort(IsPortFree) : options.Port;
        if (!isGroup && !IsPortFree(number))
        {
            throw new TransportException($"{address}:{number} is in use at node {life.Node.Number}.");
        }

        var port = new SimulatedPort(life, options, new IPEndPoint(address, number), receiver);
        if (options.Receives || !isGroup)
        {
            Add(port);
        }

        return port;
    }

    internal SimulatedListener Listen(IPEndPoint local, IControlAcceptor acceptor)
    {
        CheckUsable("listen");
        if (!local.Address.Equals(IPAddress.Any) && !local.Address.Equals(life.LocalAddress) && !IPAddress.IsLoopback(local.Address))
        {
            throw new TransportException($"{local.Address} is not an address of node {life.Node.Number}.");
        }

        if (life.Refusal(SystemCalls.Listen) is { } refusal)
        {
            throw new TransportException($"Cannot listen at {local} of node {life.Node.Number}: {refusal}.");
        }

        var listeners = _listeners ??= [];
        int number = local.Port == 0 ? FreePort(port => !listeners.ContainsKey(port)) : local.Port;
        var listener = new SimulatedListener(this, new IPEndPoint(local.Address, number), acceptor);
        if (!listeners.TryAdd(number, listener))
        {
            throw new TransportException($"{local.Address}:{number} is in use at node {life.Node.Number}.");
        }

        return listener;
    }

    /// <summary>The listener that would take a connection to this port, from this node itself or from another.</summary>
    internal SimulatedListener? FindListener(int port, bool fromOwnNode) =>
        _listeners is not null && _listeners.TryGetValue(port, out var listener)
        && (fromOwnNode || !IPAddress.IsLoopback(listener.LocalEndPoint.Address))
            ? listener
            : null;

    internal int NextEphemeralPort()
    {
        int port = _nextEphemeralPort;
        _nextEphemeralPort = port == LastPort ? FirstEphemeralPort : port + 1;
        return port;
    }

    internal bool Receive(in FlightSegments segments, in Destination destination)
    {
        if (!_ports.TryGetValue(destination.Key, out var first))
        {
            return false;
        }

        for (var port = first; port is not null; port = port.NextAtAddress)
        {
            port.Enqueue(segments);
        }

        return true;
    }

    internal void Remove(SimulatedPort port)
    {
        var address = port.Address;
        if (!_ports.TryGetValue(address.Key, out var first))
        {
            return;
        }

        if (first != port)
        {
            var before = first;
            while (before.NextAtAddress is { } next && next != port)
            {
                before = next;
            }

            // Those that only send to a group are at no address.
            if (before.NextAtAddress == port)
            {
                before.NextAtAddress = port.NextAtAddress;
            }
        }
        else if (port.NextAtAddress is { } next)
        {
            _ports[address.Key] = next;
        }
        else
        {
            _ports.Remove(address.Key);
            if (address.IsGroup)
            {
                life.Cluster.Network.Leave(address, life.Node);
            }
        }
    }

    internal void Remove(SimulatedListener listener)
    {
        if (_listeners is not null && _listeners.TryGetValue(listener.LocalEndPoint.Port, out var open) && open == listener)
        {
            _listeners.Remove(listener.LocalEndPoint.Port);
        }
    }

    /// <summary>Joins the groups of all ports that are open.</summary>
    internal void JoinAgain()
    {
        foreach (var first in _ports.Values)
        {
            if (first.Address.IsGroup)
            {
                life.Cluster.Network.Join(first.Address, life.Node);
            }
        }
    }

    internal void CloseAll(bool silently)
    {
        foreach (var port in AllPorts().ToArray())
        {
            port.Dispose();
        }

        _listeners = null;
        foreach (var connection in Connections.ToArray())
        {
            connection.OnNodeDied(life, silently);
        }

        Connections.Clear();
    }

    private void Add(SimulatedPort port)
    {
        if (!_ports.TryAdd(port.Address.Key, port))
        {
            var last = _ports[port.Address.Key];
            while (last.NextAtAddress is { } next)
            {
                last = next;
            }

            last.NextAtAddress = port;
        }

        if (port.Address.IsGroup)
        {
            life.Cluster.Network.Join(port.Address, life.Node);
        }
    }

    private IEnumerable<SimulatedPort> AllPorts()
    {
        foreach (var first in _ports.Values)
        {
            for (var port = first; port is not null; port = port.NextAtAddress)
            {
                yield return port;
            }
        }
    }

    private bool IsPortFree(int port) => !_ports.ContainsKey(Destination.Of(life.LocalAddress, port).Key);

    private int FreePort(Func<int, bool> isFree)
    {
        for (int tries = FirstEphemeralPort; tries <= LastPort; tries++)
        {
            int port = NextEphemeralPort();
            if (isFree(port))
            {
                return port;
            }
        }

        throw new TransportException($"Node {life.Node.Number} has no free port.");
    }

    private void CheckUsable(string what)
    {
        life.Cluster.Time.CheckThread();
        if (!life.IsAlive)
        {
            throw new TransportException($"Node {life.Node.Number} has crashed, so it cannot {what}.");
        }
    }
}

internal sealed class SimulatedListener(NodeEndpoints owner, IPEndPoint local, IControlAcceptor acceptor) : IControlListener
{
    public IPEndPoint LocalEndPoint { get; } = local;

    internal IControlAcceptor Acceptor { get; } = acceptor;

    public void Dispose() => owner.Remove(this);
}
