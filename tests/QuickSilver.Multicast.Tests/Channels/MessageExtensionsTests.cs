using System.Buffers.Binary;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Tests.Channels;

public sealed class MessageExtensionsTests
{
    [Fact]
    public void A_field_is_its_kind_its_length_and_its_value()
    {
        var fields = new byte[MessageExtensions.MostBytes];

        int used = MessageExtensions.Add(fields, 0, ExtensionKind.OrderStamp, [7, 8, 9]);

        Assert.Equal([2, 3, 7, 8, 9], fields[..used]);
    }

    [Fact]
    public void A_field_is_found_behind_others_whether_they_are_known_or_not()
    {
        byte[] fields = [200, 2, 1, 1, 4, 0, 3, 1, 5];
        var extensions = new MessageExtensions(fields);

        Assert.True(extensions.TryFind(ExtensionKind.TraceContext, out var value));
        Assert.Equal([5], value.ToArray());
        Assert.True(extensions.TryFind(ExtensionKind.FilterAttributes, out value));
        Assert.Empty(value.ToArray());
        Assert.False(extensions.TryFind(ExtensionKind.PublishTime, out _));
        Assert.Null(extensions.PublishTime);
    }

    [Fact]
    public void The_publish_time_is_eight_bytes()
    {
        var fields = new byte[16];
        var time = new byte[8];
        BinaryPrimitives.WriteInt64LittleEndian(time, 638_000_000_000_000_000);
        int used = MessageExtensions.Add(fields, 0, ExtensionKind.PublishTime, time);

        Assert.Equal(638_000_000_000_000_000, new MessageExtensions(fields.AsSpan(0, used)).PublishTime);
        Assert.Null(new MessageExtensions([1, 2, 0, 0]).PublishTime);
    }

    [Fact]
    public void An_entry_without_room_is_not_added()
    {
        var fields = new byte[2 * MessageExtensions.MostBytes];

        Assert.Equal(MessageExtensions.MostBytes, MessageExtensions.Add(fields, 0, ExtensionKind.OrderStamp, new byte[126]));
        Assert.Equal(-1, MessageExtensions.Add(fields, 0, ExtensionKind.OrderStamp, new byte[127]));
        Assert.Equal(-1, MessageExtensions.Add(new byte[4], 0, ExtensionKind.OrderStamp, new byte[3]));
    }

    [Theory]
    [InlineData()]
    [InlineData(1)]
    [InlineData(1, 2)]
    [InlineData(2, 2, 1)]
    [InlineData(3, 2, 2, 0)]
    [InlineData(2, 0, 0)]
    [InlineData(5, 2, 1, 0, 2, 1)]
    [InlineData(129, 2, 127)]
    public void Damaged_fields_are_refused(params int[] bytes) =>
        Assert.Equal(-1, MessageExtensions.Measure(Array.ConvertAll(bytes, one => (byte)one)));

    [Fact]
    public void Fields_that_were_added_are_measured_and_read_again()
    {
        var field = Gen.Choose(1, 255).SelectMany(kind => Gen.Choose(0, 40).Select(length => (Kind: (ExtensionKind)kind, Length: length)));
        Prop.ForAll(field.ListOf().ToArbitrary(), fields =>
        {
            var bytes = new byte[1 + MessageExtensions.MostBytes + 20];
            var added = new List<(ExtensionKind Kind, byte[] Value)>();
            int used = 0;
            foreach (var (kind, length) in fields)
            {
                var value = new byte[length];
                value.AsSpan().Fill((byte)(added.Count + 1));
                int more = MessageExtensions.Add(bytes.AsSpan(1), used, kind, value);
                if (more > 0)
                {
                    used = more;
                    added.Add((kind, value));
                }
            }

            bytes[0] = (byte)used;
            Assert.Equal(1 + used, MessageExtensions.Measure(bytes));
            foreach (var kind in added.Select(one => one.Kind).Distinct())
            {
                Assert.True(new MessageExtensions(bytes.AsSpan(1, used)).TryFind(kind, out var value));
                Assert.Equal(added.First(one => one.Kind == kind).Value, value.ToArray());
            }
        }).QuickCheckThrowOnFailure();
    }

    [Fact]
    public void Nothing_is_read_beyond_the_bytes()
    {
        Prop.ForAll<byte[]>(bytes =>
        {
            int measured = MessageExtensions.Measure(bytes);
            Assert.InRange(measured, -1, bytes.Length);
            if (measured > 0)
            {
                new MessageExtensions(bytes.AsSpan(1, measured - 1)).TryFind(ExtensionKind.FilterAttributes, out _);
            }
        }).QuickCheckThrowOnFailure();
    }
}
