using System.Net;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Protocol;

// What a control message must be besides protobuf. Each refusal names the field and the bound.
public sealed class ControlFieldsTests
{
    private const int SessionClosed = 1209;

    private static string? Fault<T>(Action<ControlBuffer> write)
        where T : IReadableMessage<T>
    {
        var buffer = new ControlBuffer();
        write(buffer);
        return ControlFrame.TryRead<T>(buffer.Written, out _, out string? fault) ? null : fault;
    }

    private static string? Fault<T>(int kind, Func<ReadOnlySpan<byte>, int, T> read, Action<ControlBuffer> write)
    {
        var buffer = new ControlBuffer();
        write(buffer);
        return ControlFrame.TryRead(buffer.Written, kind, read, out _, out string? fault) ? null : fault;
    }

    private static string? FaultOfHeartbeat(Action<ControlBuffer> write) => Fault(ControlMessageKind.Heartbeat, KnownMessage.Read, write);

    private static string? FaultOfRefused(Action<ControlBuffer> write) => Fault(ControlMessageKind.Refused, ReasonMessage.Read, write);

    private static string? FaultOfConfirm(Action<ControlBuffer> write) => Fault(ControlMessageKind.Confirm, OpenViewsMessage.Read, write);

    private static string? FaultOfSettled(Action<ControlBuffer> write) => Fault(ControlMessageKind.Settled, OpenViewsMessage.Read, write);

    [Fact]
    public void A_configuration_of_empty_views_allocates_a_small_multiple_of_its_bytes()
    {
        // Two bytes for each view.
        const int Views = 4_000;
        byte[] body = [8, 5, .. Enumerable.Repeat<byte[]>([0x4A, 0], Views).SelectMany(static view => view)];
        _ = ConfigurationMessage.Read(body);
        long before = GC.GetAllocatedBytesForCurrentThread();
        Assert.Equal(Views, ConfigurationMessage.Read(body).Content.Regions.Length);
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 100L * body.Length);
    }

    [Fact]
    public void A_field_has_one_wire_type()
    {
        Assert.Equal("Field 1 has wire type 1; expected 0", FaultOfHeartbeat(static buffer => buffer.Fixed64(1, 5)));
        Assert.Equal("Field 2 has wire type 0; expected 1", Fault<CloseTopicMessage>(static buffer => buffer.UInt64(2, 5)));
        Assert.Equal("Field 1 has wire type 0; expected 2", FaultOfRefused(static buffer => buffer.UInt64(1, 5)));
        Assert.Equal("Field 1 has wire type 1; expected 2", Fault<SuspectMessage>(static buffer => buffer.Fixed64(1, 5)));
    }

    [Fact]
    public void A_proof_has_the_size_of_one()
    {
        Assert.Null(Fault<JoinMessage>(static buffer => (RawClient.Join(1) with { Proof = new byte[NodeProof.Bytes] }).Write(buffer)));
        Assert.Equal(
            "The proof of the key has 31 bytes; expected 32",
            Fault<JoinMessage>(static buffer => (RawClient.Join(1) with { Proof = new byte[31] }).Write(buffer)));
    }

    [Fact]
    public void Ended_lives_are_bounded_and_have_the_number_of_a_configuration()
    {
        EndedLife[] ended = [.. Enumerable.Range(1, EndedLife.Most).Select(static id => new EndedLife(new NodeKey((ulong)id, 1), 7, 1))];
        Assert.Null(Fault<JoinMessage>(buffer => (RawClient.Join(1) with { Ended = [.. ended] }).Write(buffer)));
        Assert.Equal(
            "More than 1024 ended lives are named",
            Fault<JoinMessage>(buffer => (RawClient.Join(1) with { Ended = [.. ended, ended[0]] }).Write(buffer)));
        Assert.Equal(
            "Configuration 0, which ended a life, is not valid",
            Fault<JoinMessage>(static buffer => (RawClient.Join(1) with { Ended = [default] }).Write(buffer)));
    }

    [Fact]
    public void Numbers_have_bounds()
    {
        Assert.Equal(
            "The message is malformed: 65536 is not in the range 0 to 65535",
            Fault<InquiryMessage>(static buffer => buffer.UInt64(3, IPEndPoint.MaxPort + 1)));
        Assert.Equal(
            "The message is malformed: -1 is not in the range 0 to 65535",
            Fault<InquiryMessage>(static buffer => buffer.Int64(3, -1)));
        Assert.Equal(
            "The message is malformed: 4294967296 is not in the range 0 to 4294967295",
            FaultOfConfirm(static buffer => Nested(buffer, 2, static inner => inner.UInt64(2, 1UL << 32))));
    }

    [Fact]
    public void Texts_have_bounds_and_are_UTF_8()
    {
        Assert.Null(FaultOfRefused(static buffer => buffer.Text(1, new string('r', ControlFrame.MaxReasonBytes))));
        Assert.Equal(
            "Field 1 has a text of 16385 bytes; the limit is 16384",
            FaultOfRefused(static buffer => buffer.Text(1, new string('r', ControlFrame.MaxReasonBytes + 1))));
        Assert.Equal(
            "The message is malformed: a string is not valid UTF-8",
            FaultOfRefused(static buffer => buffer.Bytes(1, [0xC3])));
    }

    [Fact]
    public void Lists_have_bounds()
    {
        static void Views(ControlBuffer buffer, int count) =>
            ViewFields.WriteOpen(buffer, 2, [.. Enumerable.Repeat(new OpenView(9, 3), count)]);

        Assert.Null(FaultOfConfirm(static buffer => Views(buffer, OpenView.MostPerNode)));
        Assert.Equal("More than 64 open views are named", FaultOfConfirm(static buffer => Views(buffer, OpenView.MostPerNode + 1)));
        Assert.Null(FaultOfSettled(static buffer => Views(buffer, OpenView.MostPerNode + 1)));
        Assert.NotNull(FaultOfSettled(static buffer => Views(buffer, OpenView.MostReported + 1)));
        Assert.Equal(
            "Field 3 has 65537 numbers; the limit is 65536",
            Fault<ConfigurationMessage>(static buffer => Nested(buffer, 10, static inner => inner.PackedFixed64(3, new ulong[65_537]))));
        Assert.Equal(
            "The message ends in the middle of a field",
            Fault<ConfigurationMessage>(static buffer => Nested(buffer, 10, static inner => inner.Bytes(3, new byte[9]))));
    }

    [Fact]
    public void Addresses_have_four_bytes_or_sixteen() => Assert.Equal(
        "Field 1 has an address of 5 bytes; expected 4 or 16",
        Fault<GoodbyeMessage>(static buffer => Nested(buffer, 1, static inner => inner.Bytes(1, new byte[5]))));

    [Fact]
    public void A_message_that_is_cut_short_is_refused_and_one_without_fields_is_not()
    {
        Assert.False(ControlFrame.TryRead([8], ControlMessageKind.Heartbeat, KnownMessage.Read, out _, out string? fault));
        Assert.Equal("The message ends in the middle of a field", fault);
        Assert.True(ControlFrame.TryRead([], ControlMessageKind.Heartbeat, KnownMessage.Read, out var heartbeat, out _));
        Assert.Equal(0, heartbeat.Configuration);
    }

    [Fact]
    public void Members_that_are_out_of_order_are_refused() => Assert.Equal(
        "The members of region 9 are not in ascending order",
        Fault<ConfigurationMessage>(static buffer => ViewFields.WriteRegion(buffer, 9, new RegionView
        {
            RegionId = 9,
            Number = 1,
            Configuration = 1,
            Group = null,
            Members = [new NodeKey(2, 1), new NodeKey(1, 1)],
        })));

    [Fact]
    public void The_log_says_what_was_wrong_with_a_message_for_which_a_session_is_closed()
    {
        var log = new LogRecorder();
        var cluster = new FakeCluster(logger: log);
        var raw = new RawClient(cluster);
        cluster.World.RunUntil(() => raw.IsConnected);
        raw.Send(RawClient.Join(7, cluster: new string('c', JoinMessage.MaxClusterBytes + 1)));
        cluster.Run(0.1);
        Assert.True(raw.IsClosed);
        Assert.EndsWith(
            ": invalid message of kind 1: Field 1 has a text of 257 bytes; the limit is 256.",
            log.TextOf(SessionClosed));
    }

    private static void Nested(ControlBuffer buffer, int field, Action<ControlBuffer> write)
    {
        int start = buffer.Begin(field);
        write(buffer);
        buffer.End(start);
    }
}
