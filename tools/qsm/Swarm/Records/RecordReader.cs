using System.Collections.Immutable;
using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Tool.Swarm.Records;

// One thing that happened at a node, and when; adding it to a history replays it.
internal readonly record struct SwarmRecord(long AtTicks, RecordKind Kind, int Node)
{
    public Subscription Subscription { get; init; }

    /// <summary>The node that published, or whose gap, or whose life it is.</summary>
    public NodeKey Key { get; init; }

    /// <summary>A message's number, a gap's first, or a configuration's.</summary>
    public long Number { get; init; }

    public long Last { get; init; }

    public ulong Hash { get; init; }

    /// <summary>The views that a message was sent in.</summary>
    public ImmutableArray<RegionView> Views { get; init; }

    public ConfigurationChange? Change { get; init; }

    public void ReplayTo(History history)
    {
        var at = new TimeSpan(AtTicks);
        var message = new MessageId(Key, Subscription.Topic, Number);
        switch (Kind)
        {
            case RecordKind.Published:
                history.Published(at, message, Hash);
                history.Sent(at, message, Views);
                break;
            case RecordKind.Delivered: history.Delivered(at, Subscription, message, Hash); break;
            case RecordKind.Gap: history.Gap(at, Subscription, Key, Number, Last); break;
            case RecordKind.Activated: history.Activated(at, Subscription, Key, Number); break;
            case RecordKind.Subscribed: history.Subscribed(at, Subscription); break;
            case RecordKind.Configured: history.Configured(at, Node, Key, Change!); break;
            case RecordKind.Stopped: history.Stopped(at, Node, Key); break;
            default: break;
        }
    }
}

// Reads the files of a swarm's processes. Equal views of different nodes become one object, or a hundred nodes' views of a
// hundred members each would not fit; views that differ in anything stay apart, for the checkers to find.
internal sealed class RecordReader
{
    private readonly Dictionary<(ulong Region, uint Number), List<RegionView>> _known = [];
    private readonly Dictionary<int, NodeDefinitions> _nodes = [];
    private int _totalNodes;

    public List<SwarmRecord> Records { get; } = [];

    public int NodeCount => _nodes.Count;

    /// <exception cref="InvalidDataException">It is no such file, was not ended, is of another swarm than the file before it, or
    /// a node of it was read before.</exception>
    public void Read(string path)
    {
        using var reader = new BinaryReader(File.OpenRead(path));
        var here = new HashSet<int>();
        try
        {
            if (!reader.ReadBytes(RecordFile.Magic.Length).AsSpan().SequenceEqual(RecordFile.Magic))
            {
                throw new InvalidDataException($"{path} is not a file of swarm records.");
            }

            int total = reader.ReadInt32();
            if (_totalNodes != 0 && total != _totalNodes)
            {
                throw new InvalidDataException($"{path} is from a swarm of {total} nodes, the previous file from one of {_totalNodes}.");
            }

            _totalNodes = total;
            for (int node = reader.ReadInt32(); node != RecordFile.End; node = reader.ReadInt32())
            {
                ReadBlock(reader, node, here, path);
            }
        }
        catch (EndOfStreamException exception)
        {
            throw new InvalidDataException($"{path} has no end: its process did not complete its run.", exception);
        }
    }

    /// <exception cref="InvalidDataException">A node of the swarm is in none of the files.</exception>
    public void DemandAllNodes()
    {
        int missing = Enumerable.Range(0, _totalNodes).FirstOrDefault(node => !_nodes.ContainsKey(node), RecordFile.End);
        if (missing != RecordFile.End)
        {
            string sentence = $"Node {missing} is in none of the files. They contain {_nodes.Count} of the swarm's {_totalNodes} nodes.";
            throw new InvalidDataException(sentence);
        }
    }

    private void ReadBlock(BinaryReader reader, int node, HashSet<int> here, string path)
    {
        if (here.Add(node) && !_nodes.TryAdd(node, new NodeDefinitions()))
        {
            throw new InvalidDataException($"Node {node} is in {path} and in a previous file. Give each process its own --first.");
        }

        int length = reader.ReadInt32();
        long end = reader.BaseStream.Position + length;
        while (reader.BaseStream.Position < end)
        {
            ReadRecord(reader, node, _nodes[node]);
        }
    }

    private void ReadRecord(BinaryReader reader, int node, NodeDefinitions definitions)
    {
        var kind = (RecordKind)reader.ReadByte();
        var record = new SwarmRecord(reader.ReadInt64(), kind, node);
        switch (kind)
        {
            case RecordKind.View:
                definitions.Views.Add(ReadView(reader));
                return;
            case RecordKind.Routes:
                definitions.Routes.Add(ConfigurationForm.Many(reader, one => definitions.Views[one.ReadInt32()]));
                return;
            case RecordKind.Published:
                var sender = ConfigurationForm.ReadKey(reader);
                record = record with
                {
                    Key = sender,
                    Subscription = new Subscription(0, node, reader.ReadUInt64()),
                    Number = reader.ReadInt64(),
                    Hash = reader.ReadUInt64(),
                    Views = definitions.Routes[reader.ReadInt32()],
                };
                break;
            case RecordKind.Delivered:
                record = record with
                {
                    Subscription = ReadSubscription(reader, node),
                    Key = ConfigurationForm.ReadKey(reader),
                    Number = reader.ReadInt64(),
                    Hash = reader.ReadUInt64(),
                };
                break;
            case RecordKind.Gap:
                record = record with
                {
                    Subscription = ReadSubscription(reader, node),
                    Key = ConfigurationForm.ReadKey(reader),
                    Number = reader.ReadInt64(),
                    Last = reader.ReadInt64(),
                };
                break;
            case RecordKind.Activated:
                record = record with
                {
                    Subscription = ReadSubscription(reader, node),
                    Key = ConfigurationForm.ReadKey(reader),
                    Number = reader.ReadInt64(),
                };
                break;
            case RecordKind.Subscribed:
                record = record with { Subscription = ReadSubscription(reader, node) };
                break;
            case RecordKind.Configured:
                record = record with
                {
                    Key = ConfigurationForm.ReadKey(reader),
                    Change = ConfigurationForm.Read(reader, definitions.Views),
                };
                break;
            case RecordKind.Stopped:
                record = record with { Key = ConfigurationForm.ReadKey(reader) };
                break;
            default:
                throw new InvalidDataException($"A record of node {node} has the unknown kind {(byte)kind}.");
        }

        Records.Add(record);
    }

    private static Subscription ReadSubscription(BinaryReader reader, int node) => new(reader.ReadInt64(), node, reader.ReadUInt64());

    private RegionView ReadView(BinaryReader reader)
    {
        var view = new RegionView
        {
            RegionId = reader.ReadUInt64(),
            Number = reader.ReadUInt32(),
            Configuration = reader.ReadInt64(),
            Group = null,
            Members = ConfigurationForm.Many(reader, ConfigurationForm.ReadKey),
        };
        if (!_known.TryGetValue((view.RegionId, view.Number), out var known))
        {
            _known.Add((view.RegionId, view.Number), known = []);
        }

        var same = known.Find(one => one.Configuration == view.Configuration && one.Members.AsSpan().SequenceEqual(view.Members.AsSpan()));
        if (same is null)
        {
            known.Add(same = view);
        }

        return same;
    }

    private sealed class NodeDefinitions
    {
        public List<RegionView> Views { get; } = [];

        public List<ImmutableArray<RegionView>> Routes { get; } = [];
    }
}
