using QuickSilver.Serialization;
using QuickSilver.Tool.Catalog;
using QuickSilver.Tool.Lines;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Watching;

// Where the messages of all watched topics are written.
internal sealed class WatchedLines(
    Session session, QuickSilverNode node, LineFormat format, LineWriter output, MissingMessages missing)
{
    public LineWriter Output => output;

    public MissingMessages Missing => missing;

    public TopicLines Of(string topic) => new(topic, this, new PayloadView(session, topic));

    public MessageLine LineOf(string topic, PayloadView view) => new(format, topic, view) { NameOf = node.NameOf };
}

// The lines of one topic. Not thread-safe.
internal sealed class TopicLines(string topic, WatchedLines all, PayloadView view) : IDisposable
{
    private readonly MessageLine _line = all.LineOf(topic, view);

    public async ValueTask WriteAsync(Message<ReadOnlyMemory<byte>> message)
    {
        await view.PrepareAsync(message.Sender);
        try
        {
            _line.Write(all.Output, message);
        }
        catch (PayloadFormatException exception)
        {
            all.Missing.Add(topic, message.Sender, message.Sequence, exception);
        }
    }

    public void Dispose()
    {
        _line.Dispose();
        view.Dispose();
    }
}
