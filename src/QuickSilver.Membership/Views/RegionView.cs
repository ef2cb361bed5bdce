using System.Collections.Immutable;
using System.Net;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Sealing;

namespace QuickSilver.Membership.Views;

// The members of one region from configuration Configuration on, until a view with a higher Number replaces it. Members
// are in ascending key order, the same at every node, so rings and leaders follow without a message. No members: the
// region has dissolved. Packet numbers start at 1 in each view, per sender: a view is a closed world in which every
// member must come to hold every packet, so a joiner never starts in the middle and a leaver never leaves a hole.
internal sealed record RegionView
{
    /// <summary>
    /// The number of the end, without members, of a region that came from an earlier service: that one may still number on from its view.
    /// </summary>
    public const uint EndOfAdopted = uint.MaxValue;

    public required ulong RegionId { get; init; }
    public required uint Number { get; init; }
    public required long Configuration { get; init; }
    // Null: the region is small, and its packets are sent to each member.
    public required IPEndPoint? Group { get; init; }
    public required ImmutableArray<NodeKey> Members { get; init; }
    public RepairRules Repair { get; init; } = RepairRules.Default;
    // Of a pinned topic's region: for each member, the configuration since which it is one. Empty in other regions.
    public ImmutableArray<long> Since { get; init; } = [];
    // The number of the region's set of topics, which a service that takes over keeps. 0 for a pinned topic's region.
    public int Set { get; init; }
    // The key of its packets. Null: packets are not sealed, or the receiver of this view has the key.
    public SecretKey? Key { get; init; }

    /// <summary>Whether both are equal, the members compared one by one; the record's own equality compares the arrays' identity.</summary>
    public bool HasContentOf(RegionView other) =>
        RegionId == other.RegionId && Number == other.Number && Configuration == other.Configuration
        && Equals(Group, other.Group) && Repair == other.Repair && Members.AsSpan().SequenceEqual(other.Members.AsSpan())
        && Since.AsSpan().SequenceEqual(other.Since.AsSpan()) && Set == other.Set && Equals(Key, other.Key);

    public override string ToString() =>
        $"region {RegionId:x}/{Number} ({Counted.Of(Members.Length, "member")}, {(Group is null ? "no group" : Group)})";
}

// Where a topic's messages go from configuration Configuration on: one multicast to each of these regions. Subscribed: whether the node
// that receives this is a subscriber from that configuration on.
internal sealed record TopicView
{
    public required ulong TopicId { get; init; }
    public required long Configuration { get; init; }
    public required ImmutableArray<ulong> Regions { get; init; }
    public required bool Subscribed { get; init; }
    // Routed: the node gets the views of all these regions, because it may publish; otherwise it gets only that of its own region.
    public required bool Routed { get; init; }
    // Subscribers in the whole topic view (all regions).
    public required int Subscribers { get; init; }
    // To which packets for several of these regions are sent once; null: the topic has no address of its own.
    public TopicAddress? Address { get; init; }
    // The identities that may publish, where there is a rule; default: everybody may.
    public ImmutableArray<ulong> Publishers { get; init; }
}

// A multicast address of a topic's own, and the configuration that gave it.
internal sealed record TopicAddress(IPEndPoint EndPoint, long Since);
