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

        _senders.Add(sender);
        try
        {
            if ((await TopicCatalog.ReadAsync(session, topic)).Typed is { } contract)
            {
                var schema = new DynamicSchema(SchemaContract.SchemaOf(contract));
                _reader?.Dispose();
                _reader = new PayloadToJson(schema);
                Kind = schema.Kind;
            }
        }
        catch (Exception exception) when (exception is ToolException or PayloadFormatException)
        {
            // Messages flow without a service too. What is known of the topic remains.
            _senders.Remove(sender);
            if (!_isNoted)
            {
                _isNoted = true;
                Terminal.Error($"{SafeText.Of(topic)}: cannot read the contract, so payloads are shown as {Kind}: {exception.Message}");
            }
        }
    }
}
