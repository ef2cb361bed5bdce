using System.Reflection;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Snapshots;

namespace QuickSilver.Membership.Tests.Snapshots;

// What observers read of nodes. Any sender may have written it.
public sealed class NodeSnapshotTests
{
    private static readonly PropertyInfo[] Numbers =
        [.. typeof(NodeSnapshot).GetProperties().Where(property => property.PropertyType == typeof(long))];

    [Fact]
    public void Each_number_comes_back_in_its_own_place()
    {
        var numbers = Gen.Choose(0, int.MaxValue).ArrayOf(Numbers.Length);
        Prop.ForAll(numbers.ToArbitrary(), values =>
        {
            var signs = new NodeSnapshot { Trouble = "slow", RegionRows = [new RegionSnapshot(3)], TopicRows = [new TopicSnapshot("t")] };
            for (int i = 0; i < values.Length; i++)
            {
                Numbers[i].SetValue(signs, (long)values[i]);
            }

            var read = NodeSnapshot.Read(Bytes(signs));
            Assert.All(Numbers, number => Assert.Equal(number.GetValue(signs), number.GetValue(read)));
            Assert.Equal(("slow", 3UL, "t"), (read.Trouble, read.RegionRows[0].RegionId, read.TopicRows[0].Name));
        }).QuickCheckThrowOnFailure();
    }

    [Fact]
    public void Rows_come_back_as_they_were()
    {
        Assert.Equal(Region(7), NodeSnapshot.Read(Bytes(new NodeSnapshot { RegionRows = [Region(7)] })).RegionRows[0]);
        Assert.Equal(Topic(9), NodeSnapshot.Read(Bytes(new NodeSnapshot { TopicRows = [Topic(9)] })).TopicRows[0]);
        Assert.Equal(Reason(5), NodeSnapshot.Read(Bytes(new NodeSnapshot { ReasonRows = [Reason(5)] })).ReasonRows[0]);
        Assert.Equal(Protocol(8), NodeSnapshot.Read(Bytes(new NodeSnapshot { ProtocolRows = [Protocol(8)] })).ProtocolRows[0]);
    }

    [Fact]
    public void Rows_of_protocols_are_as_many_as_there_is_room_for()
    {
        var rows = Enumerable.Repeat(Protocol(long.MaxValue), NodeSnapshot.MostRows + 1).ToArray();
        var few = new NodeSnapshot { Published = 3 }.WithProtocols([.. rows.Select(static row => row with { Topic = "t", Takers = "" })]);
        Assert.Equal(NodeSnapshot.MostRows, few.ProtocolRows.Length);
        Assert.Equal(3, few.Published);

        var filled = new NodeSnapshot { ReasonRows = [.. Enumerable.Repeat(Reason(long.MaxValue), NodeSnapshot.MostReasons)] };
        var many = filled.WithProtocols(rows);
        int one = Bytes(filled.WithProtocols(rows[..1])).Length - Bytes(filled).Length;
        Assert.InRange(Bytes(many).Length, NodeSnapshot.MaxBytes - one + 1, NodeSnapshot.MaxBytes);
        Assert.InRange(many.ProtocolRows.Length, 1, NodeSnapshot.MostRows - 1);
        Assert.Equal(many.ReasonRows.AsEnumerable(), filled.ReasonRows.AsEnumerable());
    }

    [Fact]
    public void A_state_of_a_newer_version_is_none()
    {
        var row = Protocol(1) with { State = (StateStanding)7 };
        Assert.Equal(StateStanding.None, NodeSnapshot.Read(Bytes(new NodeSnapshot { ProtocolRows = [row] })).ProtocolRows[0].State);
    }

    [Fact]
    public void The_most_that_a_node_may_report_fits()
    {
        var most = new NodeSnapshot
        {
            Trouble = new string('x', NodeSnapshot.MaxTroubleBytes),
            RegionRows = [.. Enumerable.Repeat(Region(long.MaxValue), NodeSnapshot.MostRows)],
            TopicRows = [.. Enumerable.Repeat(Topic(long.MaxValue), NodeSnapshot.MostRows)],
            ReasonRows = [.. Enumerable.Repeat(Reason(long.MaxValue), NodeSnapshot.MostReasons)],
            HeldRows = [.. Enumerable.Repeat(Held(long.MaxValue), NodeSnapshot.MostHeld)],
        };
        Array.ForEach(Numbers, number => number.SetValue(most, long.MaxValue));
        Assert.InRange(Bytes(most).Length, NodeSnapshot.MaxBytes / 2, NodeSnapshot.MaxBytes);
        Assert.Equal(NodeSnapshot.MostRows, NodeSnapshot.Read(Bytes(most)).TopicRows.Length);
        Assert.Equal(most.HeldRows.AsEnumerable(), NodeSnapshot.Read(Bytes(most)).HeldRows.AsEnumerable());
    }

    [Fact]
    public void More_than_that_is_refused()
    {
        Assert.Equal("The vital signs have more than 32 rows of one kind", Fault(buffer => Rows(buffer, 41, NodeSnapshot.MostRows + 1)));
        Assert.Equal("The vital signs have more than 32 rows of one kind", Fault(buffer => Rows(buffer, 42, NodeSnapshot.MostRows + 1)));
        Assert.Equal("The vital signs have more than 32 rows of one kind", Fault(buffer => Rows(buffer, 45, NodeSnapshot.MostRows + 1)));
        Assert.Equal("The vital signs have more than 4 reasons", Fault(buffer => Rows(buffer, 43, NodeSnapshot.MostReasons + 1)));
        Assert.Equal("Field 40 has a text of 513 bytes; the limit is 512", Fault(buffer => buffer.Text(40, new string('x', 513))));
        Assert.Equal("Field 7 is -1; negative numbers are not valid", Fault(buffer => buffer.Int64(7, -1)));
        Assert.Equal("Field 1 has a text of 129 bytes; the limit is 128", Fault(buffer => Bytes(new NodeSnapshot
        {
            TopicRows = [new TopicSnapshot(new string('t', 129))],
        }, buffer)));
    }

    [Fact]
    public void Messages_about_vital_signs_have_bounds()
    {
        Assert.Equal("The service reports 3 of 2 nodes", FaultOf<ClusterSnapshotMessage>(buffer =>
        {
            buffer.UInt64(2, 2);
            buffer.UInt64(3, 3);
        }));
        Assert.Equal("The node has no address", FaultOf<MemberSnapshotMessage>(static buffer => buffer.UInt64(3, 1)));
        Assert.Equal(
            "The message is malformed: 33 is not in the range 0 to 32",
            FaultOf<SnapshotQuestionMessage>(static buffer => buffer.UInt64(2, 33)));
        Assert.Equal(
            "The vital signs of a node have 16385 bytes; the limit is 16384",
            FaultOf<MemberSnapshotMessage>(static buffer => buffer.Bytes(6, new byte[NodeSnapshot.MaxBytes + 1])));
        Assert.Equal(
            "Field 1 has a text of 257 bytes; the limit is 256",
            FaultOf<WatchMessage>(static buffer => buffer.Text(1, new string('c', JoinMessage.MaxClusterBytes + 1))));
    }

    [Fact]
    public void Bytes_cut_short_with_a_bit_turned_or_at_random_are_read_without_harm()
    {
        byte[] valid = Bytes(new NodeSnapshot
        {
            SpanMillis = 5,
            Trouble = "x",
            RegionRows = [Region(300)],
            TopicRows = [Topic(300)],
            ReasonRows = [Reason(3)],
            ProtocolRows = [Protocol(3)],
        });
        for (int length = 0; length < valid.Length; length++)
        {
            TryRead(valid[..length]);
        }

        for (int bit = 0; bit < valid.Length * 8; bit++)
        {
            byte[] turned = [.. valid];
            turned[bit / 8] ^= (byte)(1 << (bit % 8));
            TryRead(turned);
        }

        Prop.ForAll<byte[]>(bytes =>
        {
            TryRead(bytes);
            _ = ControlFrame.TryRead<WatchMessage>(bytes, out _, out _);
            _ = ControlFrame.TryRead<SnapshotQuestionMessage>(bytes, out _, out _);
            _ = ControlFrame.TryRead<ClusterSnapshotMessage>(bytes, out _, out _);
            _ = ControlFrame.TryRead<MemberSnapshotMessage>(bytes, out _, out _);
        }).QuickCheckThrowOnFailure();
    }

    [Fact]
    public void Fields_of_a_newer_version_are_skipped()
    {
        byte[] bytes = Bytes(new NodeSnapshot { SpanMillis = 4 }, buffer =>
        {
            buffer.UInt64(39, 1);
            buffer.Text(50, "new");
        });
        Assert.Equal(4, NodeSnapshot.Read(bytes).SpanMillis);
    }

    private static RegionSnapshot Region(long number) => new((ulong)number)
    {
        View = number,
        Members = number - 1,
        ViewAgeMillis = number - 2,
        OpenViews = number - 3,
        SentPackets = number - 4,
        ReceivedPackets = number - 5,
        PendingPackets = number - 6,
        WindowPackets = number,
        MissingPackets = number - 1,
        Limit = number - 2,
        AckMicros = number - 3,
        TokenMicros = number - 4,
    };

    private static ReasonSnapshot Reason(long number) => new(new string('w', ReasonSnapshot.MaxWhatBytes))
    {
        Kind = number,
        WaitsFor = new string('f', ReasonSnapshot.MaxWaitsForBytes),
        SinceMillis = number - 1,
    };

    private static HeldSnapshot Held(long number) => new(new string('t', TopicSnapshot.MaxNameBytes))
    {
        PerThousandSeconds = number,
        Reader = new string('r', TopicSnapshot.MaxNameBytes),
    };

    private static ProtocolSnapshot Protocol(long number) =>
        new(new string('g', ProtocolSnapshot.MaxGuaranteeBytes), new string('t', TopicSnapshot.MaxNameBytes))
        {
            View = number,
            Members = number - 1,
            Rank = number - 1,
            Orderer = new string('o', ProtocolSnapshot.MaxNodesBytes),
            Waiting = number,
            State = StateStanding.Sought,
            Donor = new string('d', ProtocolSnapshot.MaxNodesBytes),
            Takers = new string('k', ProtocolSnapshot.MaxNodesBytes),
        };

    private static TopicSnapshot Topic(long number) => new(new string('t', TopicSnapshot.MaxNameBytes))
    {
        Published = number,
        Delivered = number - 1,
        Subscribers = number - 2,
        Limit = number - 3,
    };

    private static void Rows(ControlBuffer buffer, int field, int count)
    {
        for (int i = 0; i < count; i++)
        {
            buffer.End(buffer.Begin(field));
        }
    }

    private static byte[] Bytes(NodeSnapshot signs, Action<ControlBuffer>? more = null)
    {
        var buffer = new ControlBuffer();
        Bytes(signs, buffer);
        more?.Invoke(buffer);
        return buffer.Written.ToArray();
    }

    private static void Bytes(NodeSnapshot signs, ControlBuffer buffer) => signs.Write(buffer);

    private static string? TryRead(byte[] bytes) =>
        ControlFrame.TryRead<int, NodeSnapshot>(bytes, 0, static (body, _) => NodeSnapshot.Read(body), out _, out string? fault)
            ? null
            : fault;

    private static string? Fault(Action<ControlBuffer> write)
    {
        var buffer = new ControlBuffer();
        write(buffer);
        return TryRead(buffer.Written.ToArray());
    }

    private static string? FaultOf<T>(Action<ControlBuffer> write)
        where T : IReadableMessage<T>
    {
        var buffer = new ControlBuffer();
        write(buffer);
        return ControlFrame.TryRead<T>(buffer.Written, out _, out string? fault) ? null : fault;
    }
}
