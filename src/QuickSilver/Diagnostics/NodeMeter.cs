using System.Diagnostics.Metrics;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Diagnostics;

/// <summary>What the meter reports of one node: its readings and its tags, from the start of the node to its end.</summary>
internal sealed class NodeMeter : IDisposable
{
    public const string Name = "QuickSilver";

    // The tags of each measurement, after its own.
    private readonly KeyValuePair<string, object?>[] _tags;

    // Replaced as a whole, so that a collection reads it without a lock.
    private volatile ProtocolCounter[] _protocols = [];

    /// <param name="cluster">The value of a tag that all measurements have.</param>
    /// <param name="node">The value of another, which distinguishes the nodes of one process.</param>
    /// <param name="name">What people call the node; empty: nothing, and there is no such tag.</param>
    public NodeMeter(string cluster, NodeId node, string name = "") => _tags =
    [
        new("quicksilver.cluster", cluster),
        new("quicksilver.node.id", node.ToString()),
        .. name.Length > 0 ? [new("quicksilver.node.name", name)] : Array.Empty<KeyValuePair<string, object?>>(),
    ];

    /// <summary>What collections read.</summary>
    public required IFigureSource Source { get; init; }

    /// <summary>From now on, collections read this node.</summary>
    public NodeMeter Begin()
    {
        NodeInstruments.Add(this);
        return this;
    }

    /// <summary>The figures of the protocols of the node. From any thread.</summary>
    public IReadOnlyList<ProtocolCounter> Protocols => _protocols;

    /// <summary>From now on, collections read these too. Core thread.</summary>
    public void Add(IReadOnlyList<ProtocolCounter> counters)
    {
        if (counters.Count > 0)
        {
            _protocols = [.. _protocols, .. counters];
            NodeInstruments.Add(counters);
        }
    }

    public void RecordStable(TimeSpan time) => NodeInstruments.RecordStable(time, _tags);

    public Measurement<T> Measure<T>(T value, params KeyValuePair<string, object?>[] own)
        where T : struct =>
        new(value, [.. own, .. _tags]);

    public void Dispose() => NodeInstruments.Remove(this);
}
