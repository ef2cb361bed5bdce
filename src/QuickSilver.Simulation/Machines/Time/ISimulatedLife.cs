using System.Net;
using QuickSilver.Core.Transport.Descriptors;
using QuickSilver.Simulation.Network;

namespace QuickSilver.Simulation.Machines.Time;

// The life of a node, for the disk and the network of the simulation: where it is, whether it still runs, and what its core thread and its
// network card have to do.
internal interface ISimulatedLife
{
    SimulatedMachines Cluster { get; }

    SimulatedMachine Node { get; }

    bool IsAlive { get; }

    IPAddress LocalAddress { get; }

    DescriptorRoom? Descriptors { get; }

    NodeEndpoints Endpoints { get; }

    /// <summary>Where the node has its logs; null: nowhere.</summary>
    string? StorageDirectory { get; }

    /// <summary>Something has completed: an operation of a stream or of the disk.</summary>
    void Admit(NodeEvent what);

    /// <summary>Something has arrived at the port.</summary>
    void OnReadable(SimulatedPort port);

    /// <summary>
    /// The core thread sends: when the last of it leaves the network card, which nothing to the node itself passes. False: the card has
    /// too much to send before.
    /// </summary>
    bool TrySend(int bytes, int datagrams, bool toItself, out TimeSpan leaves);

    /// <summary>Why the system refuses this call of the core thread; null: it does not.</summary>
    string? Refusal(SystemCalls call);

    void Trace(TraceKind kind, ulong detail);
}
