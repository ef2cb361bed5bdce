using System.Diagnostics;
using System.Text;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Tests.Topics;

public sealed class MessageHeadersTests
{
    private static readonly ActivityContext Trace = new(
        ActivityTraceId.CreateFromString("0af7651916cd43dd8448eb211c80319c"),
        ActivitySpanId.CreateFromString("b7ad6b7169203331"),
        ActivityTraceFlags.Recorded);

    private static readonly DateTimeOffset Time = new(2026, 3, 4, 5, 6, 7, TimeSpan.Zero);

    [Fact]
    public void A_value_that_is_set_is_read_and_can_be_replaced_and_removed()
    {
        var headers = new MessageHeaders { CorrelationId = "order-17", ["tenant"] = "blue", ["priority"] = string.Empty };

        Assert.Equal("order-17", headers.CorrelationId);
        Assert.Equal("blue", headers["tenant"]);
        Assert.Equal(string.Empty, headers["priority"]);
        Assert.Null(headers["Tenant"]);
        Assert.Equal(2, headers.Count);

        headers["tenant"] = "grün";
        headers.CorrelationId = null;
        headers["priority"] = null;

        Assert.Equal([new("tenant", "grün")], headers);
        Assert.Null(headers.CorrelationId);
        Assert.Null(headers.PublishTime);
        Assert.Null(headers.TraceContext);
    }

    [Fact]
    public void A_receiver_reads_what_the_publisher_wrote()
    {
        var received = Receive(new MessageHeaders { CorrelationId = "c", ["a"] = "1", ["b"] = "2" }, Time, Trace)!;

        Assert.Equal("c", received.CorrelationId);
        Assert.Equal([new("a", "1"), new("b", "2")], received);
        Assert.Equal(Time, received.PublishTime);
        Assert.Equal(Trace.TraceId, received.TraceContext!.Value.TraceId);
        Assert.Equal(Trace.SpanId, received.TraceContext.Value.SpanId);
        Assert.Equal(ActivityTraceFlags.Recorded, received.TraceContext.Value.TraceFlags);
        Assert.True(received.TraceContext.Value.IsRemote);
    }

    [Fact]
    public void Headers_of_the_full_size_fit_beside_the_time_and_the_trace()
    {
        var headers = new MessageHeaders { ["n"] = new string('x', MessageHeaders.MaxBytes - 4) };

        Assert.Equal(MessageHeaders.MaxBytes - 4, Receive(headers, Time, Trace)!["n"]!.Length);
        var refused = Assert.Throws<ArgumentException>(() => headers["m"] = string.Empty);
        Assert.Contains("95 bytes", refused.Message, StringComparison.Ordinal);
        Assert.Contains("91 bytes", refused.Message, StringComparison.Ordinal);
        Assert.Throws<ArgumentException>(() => headers[new string('n', 300)] = "v");
        Assert.Throws<ArgumentException>(() => headers[string.Empty] = "v");
        Assert.Equal(1, headers.Count);
    }

    [Fact]
    public void Received_headers_are_read_only_and_are_published_again_without_their_time_and_trace()
    {
        var received = Receive(new MessageHeaders { CorrelationId = "c", ["a"] = "1" }, Time, Trace)!;

        var refused = Assert.Throws<InvalidOperationException>(() => received["a"] = "2");
        Assert.Contains("cannot be changed", refused.Message, StringComparison.Ordinal);
        var again = Receive(received, null, default)!;
        Assert.Equal("c", again.CorrelationId);
        Assert.Equal("1", again["a"]);
        Assert.Null(again.PublishTime);
        Assert.Null(again.TraceContext);
    }

    [Fact]
    public void Messages_without_known_fields_have_no_headers()
    {
        Assert.Null(Receive(new MessageHeaders(), null, default));
        Assert.Null(MessageHeaders.Of(new MessageExtensions([200, 1, 0, (byte)ExtensionKind.OrderStamp, 0]), "t"));
    }

    [Fact]
    public void Headers_are_equal_if_they_contain_the_same()
    {
        var one = new MessageHeaders { ["a"] = "1" };
        var other = new MessageHeaders { ["a"] = "1" };

        Assert.Equal(one, other);
        Assert.Equal(one.GetHashCode(), other.GetHashCode());
        Assert.Equal(new Message<int>(1, default, 1) { Headers = one }, new Message<int>(1, default, 1) { Headers = other });
        Assert.NotEqual(one, new MessageHeaders { ["a"] = "2" });
        Assert.Equal("CorrelationId=, a=1", one.ToString());
    }

    [Fact]
    public void Any_headers_within_the_limit_are_received_as_they_were_sent()
    {
        var texts = ArbMap.Default.GeneratorFor<NonNull<string>>().Select(static text => Valid(text.Get));
        var pairs = texts.Zip(texts).Select(static pair => (Name: "n" + pair.Item1, Value: pair.Item2)).ListOf(4);
        Prop.ForAll(pairs.ToArbitrary(), static written =>
        {
            var headers = new MessageHeaders();
            var expected = new Dictionary<string, string>();
            foreach (var (name, value) in written)
            {
                int before = Size(expected);
                int after = before + (expected.ContainsKey(name) ? 0 : 3 + Encoding.UTF8.GetByteCount(name))
                    + Encoding.UTF8.GetByteCount(value) - Encoding.UTF8.GetByteCount(expected.GetValueOrDefault(name, string.Empty));
                if (after > MessageHeaders.MaxBytes)
                {
                    Assert.Throws<ArgumentException>(() => headers[name] = value);
                    continue;
                }

                headers[name] = value;
                expected[name] = value;
            }

            var received = Receive(headers, null, default);
            Assert.Equal(expected.Count, received?.Count ?? 0);
            Assert.All(expected, pair => Assert.Equal(pair.Value, received![pair.Key]));
        }).QuickCheckThrowOnFailure();

        static int Size(Dictionary<string, string> headers) =>
            headers.Sum(static pair => 3 + Encoding.UTF8.GetByteCount(pair.Key) + Encoding.UTF8.GetByteCount(pair.Value));
    }

    [Fact]
    public void Hostile_fields_are_read_without_an_exception()
    {
        Prop.ForAll(ArbMap.Default.ArbFor<byte[]>(), static bytes =>
        {
            byte[] at = [(byte)Math.Min(bytes.Length, MessageExtensions.MostBytes), .. bytes.Take(MessageExtensions.MostBytes), 0];
            if (MessageExtensions.Measure(at) > 0 && MessageHeaders.Of(new MessageExtensions(at.AsSpan(1, at[0])), "t") is { } headers)
            {
                Assert.True(headers.Count <= at[0]);
                Assert.NotNull(headers.ToString());
                _ = (headers.PublishTime, headers.TraceContext, headers["x"]);
                _ = Receive(headers, Time, Trace);
            }
        }).QuickCheckThrowOnFailure();
        byte[][] malformed =
        [
            [6, 0], [6, 1, 0], [6, 1, 1], [6, 2, 2, 65], [6, 3, 255, 1, 2], [1, 8, 255, 255, 255, 255, 255, 255, 255, 255], [3, 1, 0],
        ];
        foreach (var field in malformed)
        {
            var headers = MessageHeaders.Of(new MessageExtensions(field), "t")!;
            Assert.Empty(headers);
            Assert.Null(headers.PublishTime);
            Assert.Null(headers.TraceContext);
        }
    }

    private static string Valid(string text) => Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(text));

    private static MessageHeaders? Receive(MessageHeaders? headers, DateTimeOffset? time, ActivityContext trace)
    {
        var fields = new byte[MessageExtensions.MostBytes];
        int bytes = MessageHeaders.Write(fields, headers, time, trace);
        var at = new byte[1 + MessageExtensions.MostBytes + 1];
        int written = MessageExtensions.Write(at, fields.AsSpan(0, bytes));
        Assert.True(bytes == 0 || MessageExtensions.Measure(at.AsSpan(0, written + 1)) == 1 + bytes);
        return MessageHeaders.Of(new MessageExtensions(fields.AsSpan(0, bytes)), "t");
    }
}
