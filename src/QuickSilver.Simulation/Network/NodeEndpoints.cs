using System.Net;
using QuickSilver.Core.Transport;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Network;

// The ports, listeners and connections of one life of a node: what its system would list as its sockets.
internal sealed class NodeEndpoints(SimulatedEnvironment life)
{
    private const int FirstEphemeralPort = 32768;
    private const int LastPort = 65535;

    private readonly Dictionary<ulong, List<SimulatedPort>> _ports = [];
    private readonly Dictionary<int, SimulatedListener> _listeners = [];
    private int _nextEphemeralPort = FirstEphemeralPort;

    internal List<SimulatedConnection> Connections { get; } = [];

    /// <summary>Datagram ports that are open.</summary>
    internal int OpenPorts => _ports.Values.Sum(ports => ports.Count);

    /// <summary>Whether others can connect to it: it hosts the membership service.</summary>
    internal bool IsListening => _listeners.Count > 0;

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

        int number = local.Port == 0 ? FreePort(port => !_listeners.ContainsKey(port)) : local.Port;
        var listener = new SimulatedListener(this, new IPEndPoint(local.Address, number), acceptor);
        if (!_listeners.TryAdd(number, listener))
        {
            throw new TransportException($"{local.Address}:{number} is in use at node {life.Node.Number}.");
        }

        return listener;
    }

    /// <summary>The listener that would take a connection to this port, from this node itself or from another.</summary>
    internal SimulatedListener? FindListener(int port, bool fromOwnNode) =>
        _listeners.TryGetValue(port, out var listener) && (fromOwnNode || !IPAddress.IsLoopback(listener.LocalEndPoint.Address))
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
        if (!_ports.TryGetValue(destination.Key, out var ports))
        {
            return false;
        }

        foreach (var port in ports)
        {
            port.Enqueue(segments);
        }

        return ports.Count > 0;
    }

    internal void Remove(SimulatedPort port)
    {
        var address = port.Address;
        if (_ports.TryGetValue(address.Key, out var ports) && ports.Remove(port) && ports.Count == 0)
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
        if (_listeners.TryGetValue(listener.LocalEndPoint.Port, out var open) && open == listener)
        {
            _listeners.Remove(listener.LocalEndPoint.Port);
        }
    }

    internal void CloseAll(bool silently)
    {
        foreach (var port in _ports.Values.SelectMany(ports => ports).ToArray())
        {
            port.Dispose();
        }

        _listeners.Clear();
        foreach (var connection in Connections.ToArray())
        {
            connection.OnNodeDied(life, silently);
        }

        Connections.Clear();
    }

    private void Add(SimulatedPort port)
    {
        if (!_ports.TryGetValue(port.Address.Key, out var ports))
        {
            _ports[port.Address.Key] = ports = [];
        }

        ports.Add(port);
        if (port.Address.IsGroup)
        {
            life.Cluster.Network.Join(port.Address, life.Node);
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
            throw new TransportException($"Node {life.Node.Number} has crashed: this life of it cannot {what}.");
        }
    }
}

internal sealed class SimulatedListener(NodeEndpoints owner, IPEndPoint local, IControlAcceptor acceptor) : IControlListener
{
    public IPEndPoint LocalEndPoint { get; } = local;

    internal IControlAcceptor Acceptor { get; } = acceptor;

    public void Dispose() => owner.Remove(this);
}
