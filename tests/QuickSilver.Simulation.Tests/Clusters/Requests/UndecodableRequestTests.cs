using System.Text;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Simulation.Tests.Clusters.Requests;

// Requests and answers whose codec throws where they are read.
public sealed class UndecodableRequestTests : IDisposable
{
    private const string Name = "sums";
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly SimulatedCluster _cluster = new(3, seed: 7);

    public UndecodableRequestTests() => _cluster.Start();

    public void Dispose() => _cluster.Dispose();

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_request_that_its_responder_cannot_decode_fails_at_once_with_the_reason(bool isInline)
    {
        var responder = Respond(1, new Words(static () => new FormatException("cannot read this")), isInline: isInline);
        var requester = Requester(0);
        var id = _cluster.Nodes[1].Node.Id;
        _cluster.RunUntilCompleted(async () =>
        {
            Assert.Equal("good!", await requester.AskAsync("good"));
            var began = _cluster.Now;
            var failed = await Assert.ThrowsAsync<ResponderFailedException>(() => requester.AskAsync("bad"));
            Assert.Equal((id, "The request cannot be decoded: FormatException: cannot read this"), (failed.Responder, failed.Error));
            Assert.Contains(
                " for \"sums\" failed: The request cannot be decoded: FormatException: cannot read this. Check that both sides have the "
                + "same type and codec of requests. The log of that node has the exception (event 1614).",
                failed.Message,
                StringComparison.Ordinal);
            var reply = Assert.Single(await requester.AskAllAsync("bad"));
            Assert.Equal(failed.Message, Assert.IsType<ResponderFailedException>(reply.Error).Message);
            Assert.InRange(_cluster.Now - began, TimeSpan.Zero, Second / 10);
            Assert.Equal("good!", await requester.AskAsync("good"));
        });
        Assert.Equal((2, 2, 0), (responder.Failed, responder.Answered, requester.Outstanding));
        var node = _cluster.Nodes[1].Node;
        Assert.Equal(2, node.Read(NodeFigures.DecodeFaults));
        Assert.Contains(("failed", 2), node.Read(NodeFigures.Replies));
    }

    [Fact]
    public void A_request_that_one_responder_cannot_decode_gets_the_answer_of_another()
    {
        Respond(1, new Words(static () => new FormatException("cannot read this")));
        Respond(2, new Words(), delay: Second / 2);
        var requester = Requester(0);
        _cluster.RunUntilCompleted(async () =>
        {
            await requester.WaitForRespondersAsync(2);
            Assert.Equal("bad!", await requester.AskAsync("bad"));
            var replies = (await requester.AskAllAsync("bad")).ToDictionary(static reply => reply.Responder);
            Assert.IsType<ResponderFailedException>(replies[_cluster.Nodes[1].Node.Id].Error);
            Assert.Equal("bad!", replies[_cluster.Nodes[2].Node.Id].Value);
        });
    }

    // The exception of a codec of the library says what to do by itself.
    [Fact]
    public void The_remedy_for_an_undecodable_request_is_given_once()
    {
        Respond(1, new Words(Malformed));
        var requester = Requester(0);
        var failed = Assert.Throws<ResponderFailedException>(() => _cluster.RunUntilCompleted(requester.AskAsync("bad")));
        Assert.Contains(
            "cannot be decoded: The message is malformed: a field has no valid number. "
            + "Check that both sides have the same type and codec of requests.",
            failed.Message,
            StringComparison.Ordinal);
        Assert.DoesNotContain("contract", failed.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_request_for_which_its_responder_has_no_memory_comes_again_and_is_handled()
    {
        var codec = new Words(static () => new OutOfMemoryException()) { Failures = 3 };
        var responder = Respond(1, codec);
        var requester = Requester(0);
        Assert.Equal("bad!", _cluster.RunUntilCompleted(requester.AskAsync("bad")));
        Assert.Equal((0, 1, 0), (responder.Failed, responder.Answered, codec.Failures));
    }

    [Fact]
    public void A_request_for_which_its_codec_never_has_memory_fails_when_the_topic_gives_it_up()
    {
        var responder = Respond(1, new Words(static () => new OutOfMemoryException("too much")));
        var requester = Requester(0);
        var asked = requester.AskAsync("bad", Second * 60);
        var failed = Assert.Throws<ResponderFailedException>(() => _cluster.RunUntilCompleted(asked));
        Assert.Equal("The request cannot be decoded: OutOfMemoryException: too much", failed.Error);
        Assert.Equal(1, responder.Failed);
    }

    [Fact]
    public void An_answer_that_cannot_be_decoded_ends_a_request_with_the_exception_of_the_library()
    {
        Respond(1, new Words());
        var requester = Requester(0, new Words(static () => new FormatException("cannot read this")));
        _cluster.RunUntilCompleted(async () =>
        {
            var failed = await Assert.ThrowsAsync<PayloadFormatException>(() => requester.AskAsync("bad"));
            Assert.Equal("cannot read this", Assert.IsType<FormatException>(failed.InnerException).Message);
            Assert.StartsWith("The answer of the responder ", failed.Message, StringComparison.Ordinal);
            Assert.EndsWith(
                " for \"sums\" cannot be decoded: FormatException: cannot read this. Check that both sides have the same type and codec of "
                + "answers.",
                failed.Message,
                StringComparison.Ordinal);
            var reply = Assert.Single(await requester.AskAllAsync("bad"));
            Assert.Equal(failed.Message, Assert.IsType<ResponderFailedException>(reply.Error).Message);
        });
    }

    private IRequester<string, string> Requester(int node, IPayloadCodec<string>? replies = null) => _cluster.RunUntilCompleted(
        _cluster.Nodes[node].Node.OpenRequesterAsync<string, string>(
            Name, new RequesterOptions<string, string> { RequestCodec = new Words(), ReplyCodec = replies ?? new Words() }));

    private IResponder Respond(int node, IPayloadCodec<string> requests, bool isInline = false, TimeSpan delay = default)
    {
        var owner = _cluster.Nodes[node];
        return _cluster.RunUntilCompleted(owner.Node.OpenResponderAsync<string, string>(
            Name,
            async (request, stop) =>
            {
                if (delay > TimeSpan.Zero)
                {
                    await Task.Delay(delay, owner.Time, stop);
                }

                return $"{request.Value}!";
            },
            new ResponderOptions<string, string> { RequestCodec = requests, ReplyCodec = new Words(), Inline = isInline }));
    }

    // Fails to read what begins with "bad", if it has an exception for it.
    private static PayloadFormatException Malformed() => Assert.Throws<PayloadFormatException>(static () =>
    {
        new ProtobufReader([0]).TryReadTag(out _);
    });

    private sealed class Words(Func<Exception>? fault = null) : IPayloadCodec<string>
    {
        /// <summary>How often it fails.</summary>
        public int Failures { get; set; } = int.MaxValue;

        public PayloadSchema Schema { get; } = new("words", PayloadSchema.BytesKind, []);

        public int GetSize(in string value) => Encoding.UTF8.GetByteCount(value);

        public int Write(in string value, Span<byte> destination) => Encoding.UTF8.GetBytes(value, destination);

        public string Read(ReadOnlySpan<byte> source)
        {
            string text = Encoding.UTF8.GetString(source);
            if (fault is null || !text.StartsWith("bad", StringComparison.Ordinal) || Failures == 0)
            {
                return text;
            }

            Failures--;
            throw fault();
        }
    }
}
