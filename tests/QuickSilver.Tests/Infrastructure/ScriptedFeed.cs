using QuickSilver.Feeds;

namespace QuickSilver.Tests.Infrastructure;

// A feed that does in its turns what the test says, and keeps its notifications.
internal sealed class ScriptedFeed(Func<IFeedWriter<string>, bool> pull) : IMessageFeed<string>
{
    public int Asked { get; private set; }

    public List<long> Stable { get; } = [];

    public List<Exception?> Ends { get; } = [];

    /// <summary>The writer of the last turn.</summary>
    public IFeedWriter<string>? Writer { get; private set; }

    /// <summary>Called with each number up to which messages are stable.</summary>
    public Action<long>? OnTold { get; init; }

    /// <summary>A feed that writes the numbers from 1 on, so many in all, as long as it may.</summary>
    public static ScriptedFeed Counting(int messages = int.MaxValue, int bytes = 1)
    {
        int next = 1;
        return new ScriptedFeed(writer =>
        {
            while (writer.CanWrite && next <= messages)
            {
                writer.Write($"{next++}".PadLeft(bytes, '0'));
            }

            return next <= messages;
        });
    }

    public bool Pull(IFeedWriter<string> writer)
    {
        Asked++;
        Writer = writer;
        return pull(writer);
    }

    public void OnStable(long through)
    {
        Assert.Empty(Ends);
        Assert.True(through > (Stable.Count == 0 ? 0 : Stable[^1]));
        Stable.Add(through);
        OnTold?.Invoke(through);
    }

    public void OnEnded(Exception? reason) => Ends.Add(reason);
}
