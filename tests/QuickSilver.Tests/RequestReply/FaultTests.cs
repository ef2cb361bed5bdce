using System.Buffers.Binary;
using System.Text;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Inboxes;
using QuickSilver.RequestReply;
using QuickSilver.Serialization;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.RequestReply;

// Faults of responders: in memory, and as bytes.
public sealed class FaultTests
{
    private const int Cases = 200;

    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    public async Task A_requester_gets_the_detail_of_the_fault_that_a_handler_throws(bool isInline, bool waits)
    {
        var logs = new RecordingLogs();
        await using var node = await new InMemoryNetwork().StartNodeAsync(loggerFactory: logs).OrFail();
        await using var responder = await node.OpenResponderAsync<string, string>(
            "orders",
            waits ? ThrowLaterAsync : static (request, _) => throw Fault(request),
            new ResponderOptions { Inline = isInline }).OrFail();
        await using var requester = await node.OpenRequesterAsync<string, string>("orders").OrFail();

        var failed = await Assert.ThrowsAsync<ResponderFailedException>(() => requester.AskAsync("nails")).OrFail();

        Assert.Equal((node.Id, "None left"), (failed.Responder, failed.Error));
        Assert.Contains(nameof(OutOfStock), failed.FaultType, StringComparison.Ordinal);
        Assert.Contains("answered with a fault of type", failed.Message, StringComparison.Ordinal);
        Assert.True(failed.TryGetFault(OutOfStockCodec.Instance, out var fault));
        Assert.Equal(new OutOfStock("nails", 3), fault);
        Assert.False(failed.TryGetFault(new NamedCodec("Refused", 1), out _));
        Assert.False(failed.TryGetFault<string>(out _));
        var reply = Assert.Single(await requester.AskAllAsync("screws").OrFail());
        Assert.True(Assert.IsType<ResponderFailedException>(reply.Error).TryGetFault(OutOfStockCodec.Instance, out fault));
        Assert.Equal("screws", fault!.Article);
        Assert.Equal((2, 0), (responder.Failed, responder.Answered));
        Assert.DoesNotContain(logs.Entries, static entry => entry.Id is 1627 or 1850);

        static async ValueTask<string> ThrowLaterAsync(Message<string> request, CancellationToken cancellationToken)
        {
            await Task.Yield();
            throw Fault(request);
        }

        static FaultException<OutOfStock> Fault(Message<string> request) =>
            new(new OutOfStock(request.Value, 3), OutOfStockCodec.Instance, "None left");
    }

    [Fact]
    public async Task Faults_do_not_count_as_failures_that_are_logged()
    {
        const int Faults = 20;
        var logs = new RecordingLogs();
        await using var node = await new InMemoryNetwork().StartNodeAsync(loggerFactory: logs).OrFail();
        await using var responder = await node.OpenResponderAsync<string, string>(
            "orders",
            static (request, _) => throw (request.Value == "fault"
                ? new FaultException<OutOfStock>(new OutOfStock(request.Value, 3), OutOfStockCodec.Instance, "None left")
                : new IOException("no disk"))).OrFail();
        await using var requester = await node.OpenRequesterAsync<string, string>("orders").OrFail();

        for (int i = 0; i < Faults; i++)
        {
            await Assert.ThrowsAsync<ResponderFailedException>(() => requester.AskAsync("fault")).OrFail();
        }

        await Assert.ThrowsAsync<ResponderFailedException>(() => requester.AskAsync("error")).OrFail();

        Assert.Equal(Faults + 1, responder.Failed);
        var line = Assert.Single(logs.Entries, static entry => entry.Id == 1627);
        Assert.EndsWith(" Such failures without a fault so far: 1.", line.Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_fault_that_is_too_large_or_cannot_be_encoded_reaches_the_requester_as_its_text()
    {
        var logs = new RecordingLogs();
        await using var node = await new InMemoryNetwork().StartNodeAsync(loggerFactory: logs).OrFail();
        await using var responder = await node.OpenResponderAsync<string, string>(
            "orders",
            static (request, _) => throw (request.Value == "large"
                ? (FaultException)new FaultException<string>(new string('x', FaultDetail.MaxBytes), "None left.")
                : new FaultException<Refused>(new Refused(7), new BadCodec(), "Refused."))).OrFail();
        await using var requester = await node.OpenRequesterAsync<string, string>("orders").OrFail();

        var large = await Assert.ThrowsAsync<ResponderFailedException>(() => requester.AskAsync("large")).OrFail();
        var bad = await Assert.ThrowsAsync<ResponderFailedException>(() => requester.AskAsync("bad")).OrFail();

        Assert.Equal(("None left.", null), (large.Error, large.FaultType));
        Assert.Equal(("Refused.", null), (bad.Error, bad.FaultType));
        Assert.False(large.TryGetFault<string>(out _));
        Assert.Contains(logs.Entries, static entry => entry.Id == 1850);
    }

    // Its boxes have small numbers, and it reads each letter that is no answer as the text of an error.
    [Fact]
    public void A_requester_of_an_earlier_version_gets_the_text_of_a_fault()
    {
        Assert.False(ReplyLetter.IsFaultReadBy(1));
        Assert.True(ReplyLetter.IsFaultReadBy(Inbox.FirstBox));
    }

    [Fact]
    public void A_fault_of_a_type_is_read_by_its_other_versions_and_by_no_other_type()
    {
        var sent = FaultDetail.Read(FaultDetail.Of(new NamedCodec("Refused", 1), new Refused(7)).Write("No."), out string text);
        Assert.Equal("No.", text);
        Assert.True(sent.TryRead(new NamedCodec("Refused", 1, 2), out var fault));
        Assert.Equal(7, fault.Code);
        Assert.False(sent.TryRead(new NamedCodec("Unknown", 1), out _));

        var other = Assert.Throws<PayloadFormatException>(() => sent.TryRead(new NamedCodec("Refused", 5), out _));
        Assert.StartsWith("The fault has the type Refused(message) with ", other.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_fault_that_its_codec_cannot_read_is_an_exception_of_the_library()
    {
        var sent = FaultDetail.Read(FaultDetail.Of(OutOfStockCodec.Instance, new OutOfStock("nails", 3)).Write("No."), out _);

        var bad = Assert.Throws<PayloadFormatException>(() => sent.TryRead(new Unreadable(new FormatException("cannot read this")), out _));

        Assert.Equal("cannot read this", Assert.IsType<FormatException>(bad.InnerException).Message);
        Assert.Equal(
            "The fault of type OutOfStock cannot be decoded: FormatException: cannot read this. Check that both sides have the same type "
            + "and codec of faults.",
            bad.Message);
        var own = PayloadFormatException.Of("The payload is malformed");
        Assert.Same(own, Assert.Throws<PayloadFormatException>(() => sent.TryRead(new Unreadable(own), out _)));
        Assert.Throws<OutOfMemoryException>(() => sent.TryRead(new Unreadable(new OutOfMemoryException()), out _));
    }

    [Fact]
    public void Malformed_bytes_are_a_clear_error()
    {
        byte[] sound = FaultDetail.Of(new NamedCodec("Refused", 1), new Refused(7)).Write("No.");
        for (int length = 0; length < sound.Length; length++)
        {
            var cut = sound.AsSpan(0, length).ToArray();
            try
            {
                FaultDetail.Read(cut, out _);
            }
            catch (PayloadFormatException exception)
            {
                Assert.NotEmpty(exception.Message);
            }
        }

        Assert.Contains(
            "it has no type",
            Assert.Throws<PayloadFormatException>(static () => FaultDetail.Read([], out _)).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "more than 65,536",
            Assert.Throws<PayloadFormatException>(static () => FaultDetail.Read(new byte[FaultDetail.MaxBytes + 1], out _)).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void A_written_fault_is_read_again() => Prop.ForAll(
        ArbMap.Default.ArbFor<string>(),
        ArbMap.Default.ArbFor<int>(),
        ArbMap.Default.ArbFor<string>(),
        static (article, left, text) =>
        {
            // A text without a counterpart in UTF-8 has no bytes of its own.
            string sentText = Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(text ?? ""));
            string sentArticle = Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(article ?? ""));
            var codec = OutOfStockCodec.Instance;
            var read = FaultDetail.Read(FaultDetail.Of(codec, new OutOfStock(sentArticle, left)).Write(sentText), out string readText);
            return read.TryRead(codec, out var fault) && fault == new OutOfStock(sentArticle, left) && readText == sentText;
        }).Check(Config.QuickThrowOnFailure.WithMaxTest(Cases));

    internal sealed record OutOfStock(string Article, int Left);

    internal readonly record struct Refused(int Code);

    private sealed class NamedCodec(string name, params int[] fields) : IPayloadCodec<Refused>
    {
        public PayloadSchema Schema { get; } = new(
            name, PayloadSchema.MessageKind, [.. fields.Select(static number => new PayloadField(number, $"Code{number}", "int32"))]);

        public int GetSize(in Refused value) => 1;

        public int Write(in Refused value, Span<byte> destination)
        {
            destination[0] = (byte)value.Code;
            return 1;
        }

        public Refused Read(ReadOnlySpan<byte> source) => new(source[0]);
    }

    // The number, and the article in UTF-8.
    private sealed class OutOfStockCodec : IPayloadCodec<OutOfStock>
    {
        public static OutOfStockCodec Instance { get; } = new();

        public PayloadSchema Schema { get; } = new(nameof(OutOfStock), PayloadSchema.BytesKind, []);

        public int GetSize(in OutOfStock value) => sizeof(int) + Encoding.UTF8.GetByteCount(value.Article);

        public int Write(in OutOfStock value, Span<byte> destination)
        {
            BinaryPrimitives.WriteInt32LittleEndian(destination, value.Left);
            return sizeof(int) + Encoding.UTF8.GetBytes(value.Article, destination[sizeof(int)..]);
        }

        public OutOfStock Read(ReadOnlySpan<byte> source) =>
            new(Encoding.UTF8.GetString(source[sizeof(int)..]), BinaryPrimitives.ReadInt32LittleEndian(source));
    }

    private sealed class Unreadable(Exception fault) : IPayloadCodec<OutOfStock>
    {
        public PayloadSchema Schema => OutOfStockCodec.Instance.Schema;

        public int GetSize(in OutOfStock value) => 0;

        public int Write(in OutOfStock value, Span<byte> destination) => 0;

        public OutOfStock Read(ReadOnlySpan<byte> source) => throw fault;
    }

    private sealed class BadCodec : IPayloadCodec<Refused>
    {
        public PayloadSchema Schema { get; } = new("Refused", PayloadSchema.BytesKind, []);

        public int GetSize(in Refused value) => throw new InvalidOperationException("No size.");

        public int Write(in Refused value, Span<byte> destination) => 0;

        public Refused Read(ReadOnlySpan<byte> source) => default;
    }
}
