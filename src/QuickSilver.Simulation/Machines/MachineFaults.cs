using QuickSilver.Core.Transport.Descriptors;
using QuickSilver.Simulation.Network;

namespace QuickSilver.Simulation.Machines;

// What is wrong with a machine just now, beside what its model says. Set by faults, undone by healing.
internal sealed class MachineFaults
{
    /// <summary>
    /// Its network card loses whatever arrives just now; unlike <see cref="NodeModel.InboundLoss"/>, which is decided when a datagram is
    /// sent, however long it is then on its way.
    /// </summary>
    public bool IsDeaf { get; set; }

    /// <summary>Time that its core thread takes for each event and each datagram beyond what the costs above say.</summary>
    public TimeSpan Slowness { get; set; }

    /// <summary>Of what it sends, some arrives up to this much later, or once more then.</summary>
    public TimeSpan OutboundHold { get; set; }

    /// <summary>Nothing that is sent to a group reaches it.</summary>
    public bool IsOutOfGroups { get; set; }

    /// <summary>Datagrams of more bytes do not reach it: a black hole on its way alone. Null: all do.</summary>
    public int? InboundLargestBytes { get; set; }

    /// <summary>No request for repair reaches it.</summary>
    public bool IsDeafToRepair { get; set; }

    /// <summary>How many of the datagrams that go to it have a twin of another version, or of no known kind, behind them.</summary>
    public double ForeignProbability { get; set; }

    /// <summary>Calls that its system refuses.</summary>
    public SystemRefusals Refusals => field ??= new();

    /// <summary>What its collector gives.</summary>
    public SimulatedHeap Heap => field ??= new();

    /// <summary>How many descriptors its process may open; null: any number.</summary>
    public DescriptorRoom? Descriptors { get; set; }

    /// <summary>No datagram of another node reaches it, while its streams live.</summary>
    public bool HearsNoDatagrams { get; set; }

    /// <summary>None of its datagrams reaches another node, while its streams live.</summary>
    public bool SendsNoDatagrams { get; set; }

    /// <summary>No stream passes between it and another node, while datagrams do.</summary>
    public bool HasNoStreams { get; set; }

    /// <summary>Its interface has another address: nothing passes between it and others.</summary>
    public bool HasNoAddress { get; set; }

    /// <summary>How many of the datagrams that go to it come once more, up to three seconds later.</summary>
    public double ReplayProbability { get; set; }

    /// <summary>How many of the datagrams that go to it have a bit flipped; beside <see cref="LinkModel.Corrupt"/>.</summary>
    public double CorruptProbability { get; set; }

    /// <summary>Its interface is down. Set it by <see cref="SimulatedNetwork.TakeOffline"/>, which lets streams break in time.</summary>
    public bool IsOffline { get; set; }

    /// <summary>How many of the datagrams that it sends to others have a false one behind them: well-formed, with absurd numbers.</summary>
    public double LieProbability { get; set; }

    /// <summary>
    /// How many of its control messages to a membership service have a number that is far higher than it is. See
    /// <see cref="RaisedMessage"/>.
    /// </summary>
    public double RaiseProbability { get; set; }

    /// <summary>
    /// How many of the datagrams that go to it have a forgery behind them, made by an attacker on the network without a key.
    /// </summary>
    public double ForgeryProbability { get; set; }

    /// <summary>What the store of a membership service on this machine does not do.</summary>
    public StoreFaults Store { get; set; }

    /// <summary>How long that store takes at the most for each answer.</summary>
    public TimeSpan StoreDelay { get; set; }

    public void Heal()
    {
        ForgeryProbability = 0;
        Store = StoreFaults.None;
        StoreDelay = TimeSpan.Zero;
        Refusals.End();
        Descriptors = null;
        Heap.Refuses = null;
        HearsNoDatagrams = false;
        SendsNoDatagrams = false;
        HasNoStreams = false;
        HasNoAddress = false;
        ReplayProbability = 0;
        CorruptProbability = 0;
        IsOffline = false;
        LieProbability = 0;
        RaiseProbability = 0;
        Slowness = TimeSpan.Zero;
        OutboundHold = TimeSpan.Zero;
        IsOutOfGroups = false;
        InboundLargestBytes = null;
        IsDeafToRepair = false;
        ForeignProbability = 0;
        IsDeaf = false;
    }
}

[Flags]
internal enum StoreFaults
{
    None = 0,

    /// <summary>It cannot be read when a service begins.</summary>
    RefusesLoads = 1,

    /// <summary>It keeps nothing that it is given.</summary>
    RefusesSaves = 2,

    /// <summary>It answers no claim, and no lease is kept alive.</summary>
    Unreachable = 4,
}
