using QuickSilver.Core.Flow;
using QuickSilver.Multicast.Sending;

namespace QuickSilver.Multicast.Tests.Sending;

// How topics that wait at one stream share its runs.
public sealed class TopicLineTests
{
    private const int Topics = 91;
    private const int Runs = 1_000;

    private readonly TopicLine _line = new();
    private int _room;

    // A run with room for some whole turns and a part of one: the same topics are cut short in each round.
    [Theory]
    [InlineData(100, 54_000)]
    [InlineData(1_000, 54_000)]
    [InlineData(100, 1_000)]
    public void Topics_that_wait_share_the_runs_within_five_percent(int messageBytes, int runBytes)
    {
        var topics = Enumerable.Range(0, Topics).Select(_ => new Topic(this, messageBytes)).ToArray();
        foreach (var topic in topics)
        {
            _line.Add(topic);
        }

        long turns = 54_000L * Runs / runBytes;
        for (long run = 0; run < turns; run++)
        {
            _room = runBytes;
            while (_room > 0)
            {
                _line.GiveTurn();
            }
        }

        double mean = topics.Average(topic => topic.Given);
        Assert.All(topics, topic => Assert.InRange(topic.Given, mean * 0.95, mean * 1.05));
    }

    // It always has messages.
    private sealed class Topic(TopicLineTests stream, int messageBytes) : ITopicFeed
    {
        public bool IsInLine { get; set; }

        public long Given { get; private set; }

        public bool Pull(ref PullBudget budget)
        {
            while (!budget.IsSpent)
            {
                if (stream._room <= 0)
                {
                    stream._line.Add(this);
                    return false;
                }

                stream._room -= messageBytes;
                Given += messageBytes;
                budget.Charge(messageBytes);
            }

            return true;
        }

        public void OnStreamClosed()
        {
        }
    }
}
