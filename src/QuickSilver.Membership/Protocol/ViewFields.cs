using System.Collections.Immutable;
using System.Net;
using System.Runtime.InteropServices;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Protocol;

// How nodes and views are written inside messages.
internal static class ViewFields
{
    // A topic cannot lie in more regions than there are nodes; a larger list is no view.
    private const int MaxRegionsPerTopic = 1 << 16;

    public static void WriteNode(ProtoWriter writer, int field, NodeKey key)
    {
        int start = writer.Begin(field);
        writer.Fixed64(1, key.Id);
        writer.UInt64(2, key.Incarnation);
        writer.End(start);
    }

    public static NodeKey ReadNode(ref ProtoReader outer)
    {
        var reader = outer.Message();
        ulong id = 0;
        uint incarnation = 0;
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: id = reader.Fixed64(); break;
                case 2: incarnation = reader.UInt32(); break;
                default: reader.Skip(); break;
            }
        }

        outer.FailIf(reader.Failed);
        return new NodeKey(id, incarnation);
    }

    public static void WriteEndPoint(ProtoWriter writer, int field, IPEndPoint endPoint)
    {
        int start = writer.Begin(field);
        Span<byte> address = stackalloc byte[16];
        endPoint.Address.TryWriteBytes(address, out int length);
        writer.Bytes(1, address[..length]);
        writer.UInt64(2, (ulong)endPoint.Port);
        writer.End(start);
    }

    public static IPEndPoint ReadEndPoint(ref ProtoReader outer)
    {
        var reader = outer.Message();
        var address = IPAddress.None;
        int port = 0;
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: address = reader.Address(); break;
                case 2: port = reader.Int32(IPEndPoint.MaxPort); break;
                default: reader.Skip(); break;
            }
        }

        outer.FailIf(reader.Failed);
        return new IPEndPoint(address, port);
    }

    public static void WriteOpen(ProtoWriter writer, int field, ImmutableArray<OpenView> views)
    {
        foreach (var view in views)
        {
            int start = writer.Begin(field);
            writer.Fixed64(1, view.Region);
            writer.UInt64(2, view.Number);
            writer.End(start);
        }
    }

    /// <summary>One of a list with at most so many.</summary>
    public static void ReadOpen(ref ProtoReader outer, ref ImmutableArray<OpenView>.Builder? views, int most)
    {
        var reader = outer.Message();
        ulong region = 0;
        uint number = 0;
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: region = reader.Fixed64(); break;
                case 2: number = reader.UInt32(); break;
                default: reader.Skip(); break;
            }
        }

        views ??= ImmutableArray.CreateBuilder<OpenView>();
        outer.FailIf(reader.Failed || views.Count == most);
        views.Add(new OpenView(region, number));
    }

    public static void WriteInfo(ProtoWriter writer, int field, NodeInfo info)
    {
        int start = writer.Begin(field);
        WriteNode(writer, 1, info.Key);
        WriteEndPoint(writer, 2, info.EndPoint);
        writer.Int64(3, info.JoinOrder);
        writer.Int64(4, info.AdmittedAt);
        writer.Fixed64(5, info.Origin.Service);
        writer.Int64(6, info.Origin.Configuration);
        writer.End(start);
    }

    public static NodeInfo ReadInfo(ref ProtoReader outer)
    {
        var reader = outer.Message();
        NodeKey key = default;
        IPEndPoint? endPoint = null;
        long joinOrder = 0;
        long admittedAt = 0;
        Origin origin = default;
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: key = ReadNode(ref reader); break;
                case 2: endPoint = ReadEndPoint(ref reader); break;
                case 3: joinOrder = reader.Int64(); break;
                case 4: admittedAt = reader.Int64(); break;
                case 5: origin = origin with { Service = reader.Fixed64() }; break;
                case 6: origin = origin with { Configuration = reader.Int64() }; break;
                default: reader.Skip(); break;
            }
        }

        outer.FailIf(reader.Failed);
        if (endPoint is null)
        {
            outer.Fail();
        }

        return new NodeInfo(key, endPoint ?? new IPEndPoint(IPAddress.None, 0), joinOrder, admittedAt, origin);
    }

    public static void WriteRegion(ProtoWriter writer, int field, RegionView view)
    {
        int start = writer.Begin(field);
        writer.Fixed64(1, view.RegionId);
        writer.UInt64(2, view.Number);
        writer.Int64(3, view.Configuration);
        if (view.Group is not null)
        {
            WriteEndPoint(writer, 4, view.Group);
        }

        foreach (var member in view.Members)
        {
            WriteNode(writer, 5, member);
        }

        if (view.Repair != RepairRules.Default)
        {
            writer.UInt64(6, (ulong)view.Repair.Replicas);
            writer.UInt64(7, (ulong)view.Repair.RingSize);
        }

        writer.End(start);
    }

    public static RegionView ReadRegion(ref ProtoReader outer)
    {
        var reader = outer.Message();
        ulong id = 0;
        uint number = 0;
        long configuration = 0;
        IPEndPoint? group = null;
        var repair = RepairRules.Default;
        var members = ImmutableArray.CreateBuilder<NodeKey>();
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: id = reader.Fixed64(); break;
                case 2: number = reader.UInt32(); break;
                case 3: configuration = reader.Int64(); break;
                case 4: group = ReadEndPoint(ref reader); break;
                case 5: members.Add(ReadNode(ref reader)); break;
                case 6: repair = repair with { Replicas = (int)reader.UInt32() }; break;
                case 7: repair = repair with { RingSize = (int)reader.UInt32() }; break;
                default: reader.Skip(); break;
            }
        }

        outer.FailIf(reader.Failed || !repair.IsValid || !IsAscending(members));
        return new RegionView
        {
            RegionId = id,
            Number = number,
            Configuration = configuration,
            Group = group,
            Members = members.DrainToImmutable(),
            Repair = repair == RepairRules.Default ? RepairRules.Default : repair,
        };
    }

    // A member's place is its rank in all that the members work out by themselves.
    private static bool IsAscending(ImmutableArray<NodeKey>.Builder members)
    {
        for (int i = 1; i < members.Count; i++)
        {
            if (members[i - 1].CompareTo(members[i]) >= 0)
            {
                return false;
            }
        }

        return true;
    }

    public static void WriteTopic(ProtoWriter writer, int field, TopicView view)
    {
        int start = writer.Begin(field);
        writer.Fixed64(1, view.TopicId);
        writer.Int64(2, view.Configuration);
        writer.PackedFixed64(3, view.Regions.AsSpan());
        writer.Bool(4, view.Subscribed);
        writer.UInt64(5, (ulong)view.Subscribers);
        writer.Bool(6, view.Routed);
        writer.End(start);
    }

    /// <param name="outer">Where the view lies.</param>
    /// <param name="likely">The regions of the topic before: thousands of topics lie in the same ones, and share the array.</param>
    public static TopicView ReadTopic(ref ProtoReader outer, ImmutableArray<ulong> likely)
    {
        var reader = outer.Message();
        ulong id = 0;
        long configuration = 0;
        ulong[] regions = [];
        bool subscribed = false;
        bool routed = false;
        int subscribers = 0;
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: id = reader.Fixed64(); break;
                case 2: configuration = reader.Int64(); break;
                case 3: regions = reader.PackedFixed64(MaxRegionsPerTopic); break;
                case 4: subscribed = reader.Bool(); break;
                case 5: subscribers = reader.Int32(int.MaxValue); break;
                case 6: routed = reader.Bool(); break;
                default: reader.Skip(); break;
            }
        }

        outer.FailIf(reader.Failed);
        return new TopicView
        {
            TopicId = id,
            Configuration = configuration,
            Regions = likely.AsSpan().SequenceEqual(regions) ? likely : ImmutableCollectionsMarshal.AsImmutableArray(regions),
            Subscribed = subscribed,
            Routed = routed,
            Subscribers = subscribers,
        };
    }
}
