using QuickSilver.Serialization;
using QuickSilver.Tool.Catalog;
using QuickSilver.Tool.Lines;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Watching;

// Where the messages of all watched topics are written. There may be thousands of topics, and the output may stand still: then one of them
// keeps a thread of the pool, and the others wait without one.
internal sealed class WatchedLines(
    Session session, QuickSilverNode node, LineFormat format, LineWriter output, MissingMessages missing)
{
    private readonly SemaphoreSlim _turn = new(1);

    public LineWriter Output => output;

    public MissingMessages Missing => missing;

    public async ValueTask WriteAsync(MessageLine line, Message<ReadOnlyMemory<byte>> message)
    {
        await _turn.WaitAsync();
        try
        {
            line.Write(output, message);
        }
        finally
        {
            _turn.Release();
        }
    }

    public async ValueTask FlushAsync()
    {
        await _turn.WaitAsync();
        try
        {
            output.Flush();
        }
        finally
        {
            _turn.Release();
        }
    }

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
            await all.WriteAsync(_line, message);
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
