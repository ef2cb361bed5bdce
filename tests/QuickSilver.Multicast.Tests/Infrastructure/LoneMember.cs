using System.Net;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Stability;
using QuickSilver.Multicast.Stability.Tokens;

namespace QuickSilver.Multicast.Tests.Infrastructure;

// One member of a view, by itself: the other members are only names. The test hands it the packets and tokens that they would
// send, and reads what it sends to them.
internal sealed class LoneMember
{
    public const ulong Cluster = 7;

    /// <summary>A sender that is no member of the view.</summary>
    public static readonly NodeKey Publisher = new(1000, 1);

    private const ulong Topic = 5;

    private Lease? _block;
    private int _used;
    private long _configuration = 1;

    public LoneMember(int members, int rank, MulticastOptions? options = null, RepairRules? repair = null)
    {
        Keys = [.. Enumerable.Range(0, members).Select(i => new NodeKey((ulong)i + 1, 1))];
        Options = options ?? new MulticastOptions { ClusterId = Cluster };
        Membership = new RecordingMembership(Keys[rank]);
        Context = new MulticastContext(Environment, Options, Membership)
        {
            ControlPort = Port,
            OnSenderProgress = () => { },
            OnWait = () => { },
        };
        Context.Directory.Apply(
            new ConfigurationChange
            {
                Number = _configuration,
                IsSnapshot = true,
                Joined = [.. Keys.Append(Publisher).Select((key, i) => new NodeInfo(key, EndPointOf(key), i + 1))],
            },
            Self);
        View = new RegionView
        {
            RegionId = 1,
            Number = 1,
            Configuration = _configuration,
            Group = null,
            Members = [.. Keys],
            Repair = repair ?? RepairRules.Default,
        };
        Region = new RegionReceiver(Context.Receiving, View, null, Consumer);
    }

    /// <summary>Whether tokens show this member that others hold what it misses, as soon as it misses it.</summary>
    public bool OthersHoldAll { get; init; }

    public HandDrivenEnvironment Environment { get; } = new();

    /// <summary>Where tokens, pulls, acknowledgements, probes and repairs leave.</summary>
    public RecordingPort Port { get; } = new();

    public RecordingConsumer Consumer { get; } = new();

    public RecordingMembership Membership { get; }

    public MulticastOptions Options { get; }

    public MulticastContext Context { get; }

    public RegionView View { get; }

    public RegionReceiver Region { get; }

    public RingHierarchy Rings => (RingHierarchy)Region.Stability;

    public NodeKey Self => Membership.Self;

    /// <summary>The members by rank, this one among them.</summary>
    public NodeKey[] Keys { get; }

    /// <summary>The publisher's stream.</summary>
    public InboundStream Stream => Region.FindOrAdd(new StreamKey(Publisher, StreamClass.Reliable));

    public InboundStream BestEffortStream => Region.FindOrAdd(new StreamKey(Publisher, StreamClass.BestEffort));

    /// <summary>What this member knows to be settled of the publisher's stream.</summary>
    public StreamSettlement Settlement => Rings.Records.SettlementOf(Publisher);

    public static IPEndPoint EndPointOf(NodeKey key) => new(IPAddress.Parse("10.0.0.1"), 1000 + (int)key.Id);

    public void Advance(TimeSpan by) => Environment.Advance(by);

    public void Advance(double milliseconds) => Environment.Advance(milliseconds);

    /// <summary>Packets of the publisher arrive, each with one message; the ring is notified when all are there.</summary>
    public DropReason Receive(params long[] numbers) => Receive(Stream, numbers);

    public DropReason Receive(InboundStream stream, params long[] numbers)
    {
        var outcome = DropReason.None;
        foreach (long number in numbers)
        {
            outcome = ReceiveOne(stream, number);
        }

        Rings.OnActivity(stream);
        if (OthersHoldAll && stream.IsReliable)
        {
            Region.Compare(stream, new RingComparison
            {
                Lacked = stream.Missing,
                Neighbour = null,
                NeighbourGaps = new SequenceRanges(1),
                NeighbourThrough = 0,
                Unheld = new UnheldPackets { Through = stream.Highest },
            });
        }

        return outcome;
    }

    /// <summary>A node is removed from the cluster.</summary>
    public void Remove(NodeKey node)
    {
        var change = new ConfigurationChange { Number = ++_configuration, IsSnapshot = false, Removed = [node] };
        foreach (var gone in Context.Directory.Apply(change, Self))
        {
            Region.OnNodeGone(gone, change.Number);
        }
    }

    /// <summary>A token as a ring's leader would send it to this member.</summary>
    public Token TokenOf(NodeKey leader, long round, int level = 0) =>
        new() { Round = round, Leader = leader, To = Self, Level = level, Gone = Region.Live.Gone };

    public DropReason Give(Token token, NodeKey from)
    {
        var packet = new byte[Options.PacketBytes];
        var template = new PacketTemplate(Cluster, from.Id, from.Incarnation, View.RegionId, View.Number);
        int bytes = token.Write(packet, template);
        return Rings.OnToken(from, new PacketHeader(packet.AsSpan(0, bytes)).Body);
    }

    /// <summary>
    /// The tokens that were sent since they were last taken, as their receivers read them. One that was sent twice is taken once.
    /// </summary>
    public List<Token> TakeTokens()
    {
        var tokens = new List<Token>();
        foreach (var packet in Port.Take(PacketKind.Token))
        {
            var token = new Token();
            Assert.True(token.TryRead(packet.Body));
            if (tokens.Count == 0 || tokens[^1].Round != token.Round || tokens[^1].Level != token.Level)
            {
                tokens.Add(token);
            }
        }

        return tokens;
    }

    public Token TakeToken() => Assert.Single(TakeTokens());

    /// <summary>The token that this leader has sent comes home: others have added what the test says.</summary>
    public void EndRound(Action<Token>? others = null, NodeKey? from = null)
    {
        var token = TakeToken();
        others?.Invoke(token);
        token.To = Self;
        Assert.Equal(DropReason.None, Give(token, from ?? Keys[^1]));
    }

    /// <summary>Rounds of this leader, one after the other as soon as each is due, of each of which the others say the same.</summary>
    public void RunRounds(int rounds, Action<Token>? others = null)
    {
        for (int i = 0; i < rounds; i++)
        {
            AdvanceToToken();
            EndRound(others);
        }
    }

    /// <summary>Lets time pass until a token is sent; gives how long that took.</summary>
    public TimeSpan AdvanceToToken()
    {
        var begun = Environment.Now;
        while (!Port.Has(PacketKind.Token))
        {
            Assert.True(Environment.Now - begun < TimeSpan.FromSeconds(10), "No token came.");
            Environment.Advance(TimeSpan.FromMilliseconds(0.5));
        }

        return Environment.Now - begun;
    }

    public List<AggregateAck> TakeAcks() => Port.Take(PacketKind.Ack).ConvertAll(packet =>
    {
        Assert.True(AggregateAck.TryRead(packet.Body, out var ack));
        return ack;
    });

    private DropReason ReceiveOne(InboundStream stream, long number)
    {
        const int payload = 8;
        int bytes = PacketHeader.Bytes + MessageHeader.Bytes + payload;
        if (_block is null || SlabPool.BlockBytes - _used < bytes)
        {
            _block?.Release();
            _block = Environment.Buffers.TryRent()!;
            _used = 0;
        }

        var packet = _block.Span.Slice(_used, bytes);
        packet.Clear();
        var sender = stream.Sender;
        var template = new PacketTemplate(Cluster, sender.Id, sender.Incarnation, View.RegionId, View.Number, stream.Class.Value);
        template.Write(packet, PacketKind.Data, PacketFlags.None, number, 0, 0);
        MessageHeader.Write(packet[PacketHeader.Bytes..], payload, MessageMarks.None, Topic, number);
        PacketTemplate.Seal(packet);
        int offset = _used;
        _used += bytes;
        return Region.OnData(stream, number, _block, offset, bytes);
    }
}
