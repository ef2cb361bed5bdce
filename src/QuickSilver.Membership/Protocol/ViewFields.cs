using System.Collections.Immutable;
using System.Net;
using System.Runtime.InteropServices;
using QuickSilver.Core.Sealing;
using QuickSilver.Membership.Views;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol;

// How nodes and views are written inside messages.
internal static class ViewFields
{
    // A topic cannot lie in more regions than there are nodes; a larger list is no view.
    private const int MaxRegionsPerTopic = 1 << 16;
    // There are no more identities than there are nodes.
    private const int MaxPublishersPerTopic = 1 << 16;

    public static void WriteNode(ControlBuffer buffer, int field, NodeKey key)
    {
        int start = buffer.Begin(field);
        buffer.Fixed64(1, key.Id);
        buffer.UInt64(2, key.Incarnation);
        buffer.End(start);
    }

    public static NodeKey ReadNode(ref ProtobufReader outer, ControlField at)
    {
        var reader = outer.ReadMessage(at);
        ulong id = 0;
        uint incarnation = 0;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: id = reader.ReadFixed64(field); break;
                case 2: incarnation = reader.ReadUInt32(field); break;
                default: reader.Skip(field); break;
            }
        }

        return new NodeKey(id, incarnation);
    }

    public static void WriteEndPoint(ControlBuffer buffer, int field, IPEndPoint endPoint)
    {
        int start = buffer.Begin(field);
        Span<byte> address = stackalloc byte[16];
        endPoint.Address.TryWriteBytes(address, out int length);
        buffer.Bytes(1, address[..length]);
        buffer.UInt64(2, (ulong)endPoint.Port);
        buffer.End(start);
    }

    public static IPEndPoint ReadEndPoint(ref ProtobufReader outer, ControlField at)
    {
        var reader = outer.ReadMessage(at);
        var address = IPAddress.None;
        int port = 0;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: address = reader.ReadAddress(field); break;
                case 2: port = reader.ReadInt32(field, IPEndPoint.MaxPort); break;
                default: reader.Skip(field); break;
            }
        }

        return new IPEndPoint(address, port);
    }

    public static void WriteOpen(ControlBuffer buffer, int field, ImmutableArray<OpenView> views)
    {
        foreach (var view in views)
        {
            int start = buffer.Begin(field);
            buffer.Fixed64(1, view.Region);
            buffer.UInt64(2, view.Number);
            buffer.End(start);
        }
    }

    /// <summary>One of a list with at most so many.</summary>
    public static void ReadOpen(ref ProtobufReader outer, ControlField at, ref ImmutableArray<OpenView>.Builder? views, int most)
    {
        var reader = outer.ReadMessage(at);
        ulong region = 0;
        uint number = 0;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: region = reader.ReadFixed64(field); break;
                case 2: number = reader.ReadUInt32(field); break;
                default: reader.Skip(field); break;
            }
        }

        views ??= ImmutableArray.CreateBuilder<OpenView>();
        if (views.Count == most)
        {
            throw new ControlFormatException($"More than {most} open views are named.");
        }

        views.Add(new OpenView(region, number));
    }

    public static void WriteInfo(ControlBuffer buffer, int field, NodeInfo info)
    {
        int start = buffer.Begin(field);
        WriteNode(buffer, 1, info.Key);
        WriteEndPoint(buffer, 2, info.EndPoint);
        buffer.Int64(3, info.JoinOrder);
        buffer.Int64(4, info.AdmittedAt);
        buffer.Fixed64(5, info.Origin.Service);
        buffer.Int64(6, info.Origin.Configuration);
        buffer.Fixed64(7, info.Identity);
        buffer.Text(8, info.Name);
        buffer.End(start);
    }

    public static NodeInfo ReadInfo(ref ProtobufReader outer, ControlField at)
    {
        var reader = outer.ReadMessage(at);
        NodeKey key = default;
        IPEndPoint? endPoint = null;
        long joinOrder = 0;
        long admittedAt = 0;
        Origin origin = default;
        ulong identity = IdentityId.None;
        string name = "";
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: key = ReadNode(ref reader, field); break;
                case 2: endPoint = ReadEndPoint(ref reader, field); break;
                case 3: joinOrder = reader.ReadInt64(field); break;
                case 4: admittedAt = reader.ReadInt64(field); break;
                case 5: origin = origin with { Service = reader.ReadFixed64(field) }; break;
                case 6: origin = origin with { Configuration = reader.ReadInt64(field) }; break;
                case 7: identity = reader.ReadFixed64(field); break;
                case 8: name = ProcessFields.ReadName(ref reader, field); break;
                default: reader.Skip(field); break;
            }
        }

        return endPoint is null
            ? throw new ControlFormatException($"Node {key} has no address.")
            : new NodeInfo(key, endPoint, joinOrder, admittedAt, origin, identity) { Name = name };
    }

    public static void WriteRegion(ControlBuffer buffer, int field, RegionView view)
    {
        int start = buffer.Begin(field);
        buffer.Fixed64(1, view.RegionId);
        buffer.UInt64(2, view.Number);
        buffer.Int64(3, view.Configuration);
        if (view.Group is not null)
        {
            WriteEndPoint(buffer, 4, view.Group);
        }

        foreach (var member in view.Members)
        {
            WriteNode(buffer, 5, member);
        }

        if (view.Repair != RepairRules.Default)
        {
            buffer.UInt64(6, (ulong)view.Repair.Replicas);
            buffer.UInt64(7, (ulong)view.Repair.RingSize);
        }

        buffer.PackedFixed64(8, MemoryMarshal.Cast<long, ulong>(view.Since.AsSpan()));
        buffer.UInt64(10, (ulong)view.Set);
        if (view.Key is { } key)
        {
            buffer.Bytes(9, key.Span);
        }

        buffer.End(start);
    }

    public static RegionView ReadRegion(ref ProtobufReader outer, ControlField at)
    {
        var reader = outer.ReadMessage(at);
        ulong id = 0;
        uint number = 0;
        long configuration = 0;
        IPEndPoint? group = null;
        var repair = RepairRules.Default;
        // Without room at first: a view without members takes two bytes in a message.
        var members = ImmutableArray.CreateBuilder<NodeKey>(0);
        ulong[] since = [];
        int set = 0;
        SecretKey? key = null;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: id = reader.ReadFixed64(field); break;
                case 2: number = reader.ReadUInt32(field); break;
                case 3: configuration = reader.ReadInt64(field); break;
                case 4: group = ReadEndPoint(ref reader, field); break;
                case 5: members.Add(ReadNode(ref reader, field)); break;
                case 6: repair = repair with { Replicas = (int)reader.ReadUInt32(field) }; break;
                case 7: repair = repair with { RingSize = (int)reader.ReadUInt32(field) }; break;
                case 8: since = reader.ReadPackedFixed64(field, members.Count); break;
                case 10: set = reader.ReadInt32(field, int.MaxValue); break;
                case 9: key = ReadKey(ref reader, field); break;
                default: reader.Skip(field); break;
            }
        }

        if (!repair.IsValid)
        {
            throw new ControlFormatException($"Region {id:x} has {repair.Replicas} replicas and rings of {repair.RingSize} seats.");
        }

        if (!IsAscending(members))
        {
            throw new ControlFormatException($"The members of region {id:x} are not in ascending order.");
        }

        if (since.Length > 0 && since.Length != members.Count)
        {
            throw new ControlFormatException($"Region {id:x} has {members.Count} members and the age of {since.Length}.");
        }

        return new RegionView
        {
            RegionId = id,
            Number = number,
            Configuration = configuration,
            Group = group,
            Members = members.DrainToImmutable(),
            Repair = repair == RepairRules.Default ? RepairRules.Default : repair,
            Since = [.. MemoryMarshal.Cast<ulong, long>(since)],
            Set = set,
            Key = key,
        };
    }

    public static void WriteHeld(ControlBuffer buffer, int field, HeldView view)
    {
        int start = buffer.Begin(field);
        buffer.Fixed64(1, view.RegionId);
        buffer.UInt64(2, view.Number);
        buffer.Int64(3, view.Configuration);
        if (view.Group is not null)
        {
            WriteEndPoint(buffer, 4, view.Group);
        }

        buffer.UInt64(5, (ulong)view.Set);
        buffer.Fixed64(6, view.Digest.High);
        buffer.Fixed64(7, view.Digest.Low);
        if (view.Key is { } key)
        {
            buffer.Bytes(8, key.Span);
        }

        buffer.End(start);
    }

    public static HeldView ReadHeld(ref ProtobufReader outer, ControlField at)
    {
        var reader = outer.ReadMessage(at);
        ulong id = 0, high = 0, low = 0;
        uint number = 0;
        long configuration = 0;
        IPEndPoint? group = null;
        int set = 0;
        SecretKey? key = null;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: id = reader.ReadFixed64(field); break;
                case 2: number = reader.ReadUInt32(field); break;
                case 3: configuration = reader.ReadInt64(field); break;
                case 4: group = ReadEndPoint(ref reader, field); break;
                case 5: set = reader.ReadInt32(field, int.MaxValue); break;
                case 6: high = reader.ReadFixed64(field); break;
                case 7: low = reader.ReadFixed64(field); break;
                case 8: key = ReadKey(ref reader, field); break;
                default: reader.Skip(field); break;
            }
        }

        return new HeldView(id, number, configuration, group, set, new ViewDigest(high, low)) { Key = key };
    }

    public static void WriteClusterKey(ControlBuffer buffer, int field, ClusterKey? key)
    {
        if (key is not null)
        {
            int start = buffer.Begin(field);
            buffer.Int64(1, key.Configuration);
            buffer.Bytes(2, key.Key.Span);
            buffer.End(start);
        }
    }

    public static ClusterKey ReadClusterKey(ref ProtobufReader outer, ControlField at)
    {
        var reader = outer.ReadMessage(at);
        long configuration = 0;
        SecretKey? key = null;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: configuration = reader.ReadInt64(field); break;
                case 2: key = ReadKey(ref reader, field); break;
                default: reader.Skip(field); break;
            }
        }

        return key is null
            ? throw new ControlFormatException("The key of the cluster is missing.")
            : new ClusterKey(configuration, key);
    }

    private static SecretKey ReadKey(ref ProtobufReader reader, ControlField field)
    {
        var bytes = reader.ReadBytes(field);
        return bytes.Length == SecretKey.Bytes
            ? new SecretKey(bytes)
            : throw new ControlFormatException($"Field {field.Number} has a key of {bytes.Length} bytes; expected {SecretKey.Bytes}.");
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

    public static void WriteTopic(ControlBuffer buffer, int field, TopicView view)
    {
        int start = buffer.Begin(field);
        buffer.Fixed64(1, view.TopicId);
        buffer.Int64(2, view.Configuration);
        buffer.PackedFixed64(3, view.Regions.AsSpan());
        buffer.Bool(4, view.Subscribed);
        buffer.UInt64(5, (ulong)view.Subscribers);
        buffer.Bool(6, view.Routed);
        if (view.Address is { } address)
        {
            WriteEndPoint(buffer, 7, address.EndPoint);
            buffer.Int64(8, address.Since);
        }

        if (!view.Publishers.IsDefault)
        {
            buffer.Bool(9, true);
            buffer.PackedFixed64(10, view.Publishers.AsSpan());
        }

        buffer.End(start);
    }

    /// <param name="outer">Where the view lies.</param>
    /// <param name="at">Its field there.</param>
    /// <param name="likely">The regions of the topic before: thousands of topics lie in the same ones, and share the array.</param>
    public static TopicView ReadTopic(ref ProtobufReader outer, ControlField at, ImmutableArray<ulong> likely)
    {
        var reader = outer.ReadMessage(at);
        ulong id = 0;
        long configuration = 0;
        ulong[] regions = [];
        bool subscribed = false;
        bool routed = false;
        int subscribers = 0;
        IPEndPoint? address = null;
        long addressSince = 0;
        bool isRestricted = false;
        ulong[] publishers = [];
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: id = reader.ReadFixed64(field); break;
                case 2: configuration = reader.ReadInt64(field); break;
                case 3: regions = reader.ReadPackedFixed64(field, MaxRegionsPerTopic); break;
                case 4: subscribed = reader.ReadBool(field); break;
                case 5: subscribers = reader.ReadInt32(field, int.MaxValue); break;
                case 6: routed = reader.ReadBool(field); break;
                case 7: address = ReadEndPoint(ref reader, field); break;
                case 8: addressSince = reader.ReadInt64(field); break;
                case 9: isRestricted = reader.ReadBool(field); break;
                case 10: publishers = reader.ReadPackedFixed64(field, MaxPublishersPerTopic); break;
                default: reader.Skip(field); break;
            }
        }

        return new TopicView
        {
            TopicId = id,
            Configuration = configuration,
            Regions = likely.AsSpan().SequenceEqual(regions) ? likely : ImmutableCollectionsMarshal.AsImmutableArray(regions),
            Subscribed = subscribed,
            Routed = routed,
            Subscribers = subscribers,
            Address = address is null ? null : new TopicAddress(address, addressSince),
            Publishers = isRestricted ? ImmutableCollectionsMarshal.AsImmutableArray(publishers) : default,
        };
    }
}
