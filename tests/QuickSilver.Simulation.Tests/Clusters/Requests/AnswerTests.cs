using System.Buffers.Binary;
using Microsoft.Extensions.Logging;
using QuickSilver.Endpoints;
using QuickSilver.Inboxes;
using QuickSilver.Multicast.Protocols;
using QuickSilver.RequestReply;
using QuickSilver.Serialization;

namespace QuickSilver.Simulation.Tests.Clusters.Requests;

// Whose answers count. Answers are made by hand, so that they can be of whom they should not be, and can be anything.
public sealed class AnswerTests : IDisposable
{
    private const string Name = "sums";
    private static readonly byte[] Malformed = [0xFF, 0xFE];
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly Unasked _unasked = new();
    private readonly SimulatedCluster _cluster;
    private readonly IRequester<string, string> _requester;

    public AnswerTests()
    {
        _cluster = new SimulatedCluster(new SimulationOptions { Nodes = 4, Seed = 7, LoggerFactory = _unasked });
        _cluster.Start();
        _requester = _cluster.RunUntilCompleted(_cluster.Nodes[0].Node.OpenRequesterAsync<string, string>(Name));
    }

    public void Dispose() => _cluster.Dispose();

    [Fact]
    public void An_answer_of_a_node_that_does_not_respond_is_dropped_although_it_knows_the_request()
    {
        var responder = Hand(1);
        var stranger = Hand(2, responds: false);
        var one = Ask(requester => requester.AskAsync("x"));
        var all = Ask(requester => requester.AskAllAsync("x"));
        _cluster.Eventually("the requests come", () => responder.Requests.Count == 2);
        foreach (var request in responder.Requests)
        {
            stranger.Answer(request, "forged"u8);
            stranger.Fail(request);
        }

        _cluster.Run(Second);
        Assert.False(one.IsCompleted || all.IsCompleted);
        Assert.Equal(4, _unasked.Count);
        responder.Requests.ForEach(request => responder.Answer(request, "right"u8));
        _cluster.Eventually("the answers come", () => one.IsCompletedSuccessfully && all.IsCompletedSuccessfully);
        Assert.Equal("right", _cluster.RunUntilCompleted(one));
        Assert.Equal("right", Assert.Single(_cluster.RunUntilCompleted(all)).Value);
    }

    [Fact]
    public void A_node_that_responds_since_the_request_was_sent_may_answer()
    {
        var first = Hand(1);
        var asked = Ask(requester => requester.AskAllAsync("x"));
        _cluster.Eventually("the request comes", () => first.Requests.Count == 1);
        var second = Hand(2);
        _cluster.Run(Second / 2);
        second.Answer(first.Requests[0], "later"u8);
        _cluster.Run(Second / 2);
        first.Answer(first.Requests[0], "right"u8);
        _cluster.Eventually("the answers come", () => asked.IsCompletedSuccessfully);
        Assert.Equal(["right", "later"], _cluster.RunUntilCompleted(asked).Select(static reply => reply.Value));
        Assert.Equal(0, _unasked.Count);
    }

    [Fact]
    public void An_answer_that_cannot_be_decoded_is_the_failure_of_its_responder_alone()
    {
        var bad = Hand(1);
        var good = Hand(2);
        var one = Ask(requester => requester.AskAsync("x"));
        var all = Ask(requester => requester.AskAllAsync("x"));
        _cluster.Eventually("the requests come", () => bad.Requests.Count == 2 && good.Requests.Count == 2);
        bad.Requests.ForEach(request => bad.Answer(request, Malformed));
        _cluster.Run(Second / 2);
        Assert.False(one.IsCompleted || all.IsCompleted);
        good.Requests.ForEach(request => good.Answer(request, "right"u8));
        _cluster.Eventually("the answers come", () => one.IsCompletedSuccessfully && all.IsCompletedSuccessfully);
        Assert.Equal("right", _cluster.RunUntilCompleted(one));
        var replies = _cluster.RunUntilCompleted(all).ToDictionary(static reply => reply.Responder);
        Assert.Equal("right", replies[good.Id].Value);
        var failed = Assert.IsType<ResponderFailedException>(replies[bad.Id].Error);
        Assert.IsType<PayloadFormatException>(failed.InnerException);
        Assert.Contains("cannot be decoded", failed.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_request_whose_only_answer_cannot_be_decoded_ends_with_the_exception_of_the_library()
    {
        var bad = Hand(1);
        var asked = Ask(requester => requester.AskAsync("x"));
        _cluster.Eventually("the request comes", () => bad.Requests.Count == 1);
        bad.Answer(bad.Requests[0], Malformed);
        _cluster.Eventually("the request ends", () => asked.IsCompleted);
        Assert.IsType<PayloadFormatException>(asked.Exception!.InnerException);
    }

    [Fact]
    public void Ids_of_requests_cannot_be_guessed()
    {
        const int PlaceBits = 20;
        var responder = Hand(1);
        Ask(requester => requester.AskAsync("x"));
        _cluster.Eventually("the request comes", () => responder.Requests.Count == 1);
        Assert.InRange(responder.Requests[0].Id >> PlaceBits, 1L << 20, 1L << 43);
    }

    [Fact]
    public void A_node_cannot_read_the_inbox_of_another()
    {
        string inbox = Inbox.NameOf(_cluster.Nodes[0].Node.Id);
        var options = new TopicOptions { Protocol = new ProtocolChoice(PlainTopics.Inbox) };
        var denied = Assert.Throws<TopicAccessDeniedException>(() => _cluster.RunUntilCompleted(
            _cluster.Nodes[1].Node.OpenEndpointAsync<ReadOnlyMemory<byte>>(inbox, TopicAccess.Subscribe, options)));
        Assert.Equal(inbox, denied.Topic);
        Assert.Contains("an inbox is for that node alone. Use requests or states", denied.Message, StringComparison.Ordinal);
    }

    private Task<T> Ask<T>(Func<IRequester<string, string>, Task<T>> ask)
    {
        Task<T>? asked = null;
        _cluster.Nodes[0].Post(() =>
        {
            asked = ask(_requester);
            return Task.CompletedTask;
        });
        _cluster.Eventually("the request is made", () => asked is not null);
        return asked!;
    }

    private Responding Hand(int node, bool responds = true) => new(_cluster, node, responds);

    private sealed class Responding
    {
        private readonly SimulatedCluster _cluster;
        private readonly TopicEndpoint<ReadOnlyMemory<byte>> _letters;

        public Responding(SimulatedCluster cluster, int number, bool responds)
        {
            _cluster = cluster;
            var node = cluster.Nodes[number].Node;
            Id = node.Id;
            if (responds)
            {
                var text = new Text();
                var schema = JoinedSchema.Of("request", ("request", text.Schema), ("reply", text.Schema));
                var codec = new RequestCodec<string>(text, schema, TimeProvider.System);
                var endpoint = cluster.RunUntilCompleted(node.OpenEndpointAsync(Name, TopicAccess.Subscribe, null, codec));
                endpoint.SubscribeInline((in Message<RequestMessage<string>> message) => Requests.Add(message.Value));
            }

            string inbox = Inbox.NameOf(cluster.Nodes[0].Node.Id);
            var options = new TopicOptions { Protocol = new ProtocolChoice(PlainTopics.Inbox) };
            _letters = cluster.RunUntilCompleted(
                node.OpenEndpointAsync<ReadOnlyMemory<byte>>(inbox, TopicAccess.Publish, options));
            cluster.RunUntilCompleted(_letters.WaitForSubscribersAsync(1));
        }

        public NodeId Id { get; }

        public List<RequestMessage<string>> Requests { get; } = [];

        public void Answer(in RequestMessage<string> request, ReadOnlySpan<byte> body) => Send(request, ReplyLetter.Answer, body);

        public void Fail(in RequestMessage<string> request) => Send(request, ReplyLetter.Failure, "no disk"u8);

        private void Send(in RequestMessage<string> request, byte what, ReadOnlySpan<byte> body)
        {
            byte[] letter = new byte[Inbox.HeaderBytes + ReplyLetter.HeaderBytes + body.Length];
            BinaryPrimitives.WriteInt32LittleEndian(letter, request.Box);
            BinaryPrimitives.WriteInt64LittleEndian(letter.AsSpan(Inbox.HeaderBytes), request.Id);
            letter[Inbox.HeaderBytes + sizeof(long)] = what;
            body.CopyTo(letter.AsSpan(Inbox.HeaderBytes + ReplyLetter.HeaderBytes));
            _cluster.RunUntilCompleted(() => _letters.PublishAsync((ReadOnlyMemory<byte>)letter).AsTask());
        }
    }

    private sealed class Text : IPayloadCodec<string>
    {
        public PayloadSchema Schema { get; } = new("string", PayloadSchema.StringKind, []);

        public int GetSize(in string value) => System.Text.Encoding.UTF8.GetByteCount(value);

        public int Write(in string value, Span<byte> destination) => System.Text.Encoding.UTF8.GetBytes(value, destination);

        public string Read(ReadOnlySpan<byte> source) => System.Text.Encoding.UTF8.GetString(source);
    }

    // Counts the answers that were dropped, by the log.
    private sealed class Unasked : ILoggerFactory, ILogger
    {
        private const int Dropped = 1631;

        public long Count { get; private set; }

        public ILogger CreateLogger(string categoryName) => this;

        public void AddProvider(ILoggerProvider provider)
        {
        }

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (eventId.Id == Dropped && state is IReadOnlyList<KeyValuePair<string, object?>> fields)
            {
                Count = (long)fields.Single(static field => field.Key == "Count").Value!;
            }
        }

        public void Dispose()
        {
        }
    }
}
