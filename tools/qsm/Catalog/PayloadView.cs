using QuickSilver.Membership.Contracts;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Dynamic;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Catalog;

// How the payloads of one topic are shown: by the contract that its publishers have registered.
internal sealed class PayloadView(Session session, string topic) : IDisposable
{
    // A sender that is not remembered costs a question, no more.
    private const int MostSenders = 1024;
    // After a question without an answer, no topic asks for so long: the messages of all would wait for each attempt.
    private const int UnreachableMilliseconds = 5_000;

    // Each question is asked by an observer of the cluster of its own, and thousands of topics may be watched.
    private static readonly SemaphoreSlim Asking = new(2);

    private static long _unreachableUntil;

    private readonly HashSet<NodeId> _senders = [];
    private PayloadToJson? _reader;
    private bool _isNoted;

    /// <summary>One of the kinds of <see cref="PayloadSchema"/>. What no contract describes is bytes.</summary>
    public string Kind { get; private set; } = PayloadSchema.BytesKind;

    /// <summary>Before a message of this sender: another sender may have a newer version of the contract.</summary>
    public ValueTask PrepareAsync(NodeId sender) => _senders.Contains(sender) ? ValueTask.CompletedTask : AskAsync(sender);

    /// <summary>A payload of the kind "message" as JSON, valid until the next call.</summary>
    /// <exception cref="PayloadFormatException">The payload is malformed.</exception>
    public ReadOnlySpan<byte> Convert(ReadOnlySpan<byte> payload) => _reader!.Convert(payload).Span;

    public void Dispose() => _reader?.Dispose();

    private async ValueTask AskAsync(NodeId sender)
    {
        if (_senders.Count == MostSenders)
        {
            _senders.Clear();
        }

        string? fault = null;
        TopicContracts? answered = null;
        await Asking.WaitAsync();
        try
        {
            if (Environment.TickCount64 < Volatile.Read(ref _unreachableUntil))
            {
                return;
            }

            var contracts = await TopicCatalog.ReadAsync(session, topic);
            if (contracts.Typed is { IsOfMessages: false })
            {
                // Another node has opened it as such since it was subscribed. What ends it is not what is caught here.
                answered = contracts;
            }
            else if (contracts.Typed is { } contract)
            {
                var schema = new DynamicSchema(SchemaContract.SchemaOf(contract));
                _reader?.Dispose();
                _reader = new PayloadToJson(schema);
                Kind = schema.Kind;
            }

            _senders.Add(sender);
        }
        catch (Exception exception) when (exception is ToolException or PayloadFormatException)
        {
            // Messages flow without a service too. What is known of the topic remains.
            fault = exception.Message;
            if (exception is ToolException { ExitCode: ExitCode.Unreachable })
            {
                Volatile.Write(ref _unreachableUntil, Environment.TickCount64 + UnreachableMilliseconds);
            }
        }
        finally
        {
            Asking.Release();
        }

        if (answered is not null)
        {
            AnsweredTopics.CheckSubscribe(answered);
        }

        if (fault is not null && !_isNoted)
        {
            _isNoted = true;
            Terminal.Error($"{SafeText.Of(topic)}: cannot read the contract, so payloads are shown as {Kind}: {fault}");
        }
    }
}
