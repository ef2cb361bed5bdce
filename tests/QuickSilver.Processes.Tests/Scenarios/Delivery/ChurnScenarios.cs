using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Scenarios.Delivery;

// Others come and go all the time, so views change under the traffic. A node that stays misses and repeats nothing. A node that
// came and left has one piece of each topic without a hole. I1, I2, I4, I7, I8 under F14.
[Collection(nameof(Alone))]
public sealed class ChurnScenarios
{
    private const int LinesPerStep = 40;
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(40);
    private static readonly string[] Topics = ["churn/a", "churn/b"];
    private static readonly int[] Restless = [4, 5, 6];

    [Fact]
    public async Task Staying_subscribers_receive_everything_once_and_in_order_while_others_join_and_leave()
    {
        using var cluster = new QsmCluster(6);
        var ofBoth = cluster.Subscribe(2, [.. Topics, "--topic"]);
        var ofOne = cluster.Subscribe(3, [Topics[1], "--topic"]);
        var publishers = Topics.Select(t => cluster.Join(1, "pub", t)).ToList();
        using var enough = new CancellationTokenSource();
        var feeding = Topics.Select((t, i) => Task.Run(() => FeedAsync(publishers[i], t, enough.Token))).ToList();

        var visits = ComeAndGo(cluster);
        await enough.CancelAsync();
        var published = await Task.WhenAll(feeding);
        foreach (var publisher in publishers)
        {
            publisher.CloseInput();
            publisher.ExpectExit(0);
        }

        ofBoth.WaitForOutput(o => o.LineCount >= published.Sum(p => p.Count), "all lines of both topics");
        ofOne.WaitForOutput(o => o.LineCount >= published[1].Count, "all lines of its topic");
        foreach (var subscriber in new[] { ofBoth, ofOne })
        {
            subscriber.Send(ProcessSignal.Interrupt);
            subscriber.ExpectExit(0);
        }

        Assert.Equal(published[0], LinesOf(Topics[0], ofBoth));
        Assert.Equal(published[1], LinesOf(Topics[1], ofBoth));
        Assert.Equal(published[1], LinesOf(Topics[1], ofOne));
        foreach (var visit in visits)
        {
            AssertOnePiece(published[0], LinesOf(Topics[0], visit));
            AssertOnePiece(published[1], LinesOf(Topics[1], visit));
        }

        Assert.Contains(visits, v => v.Output.LineCount > 0);
    }

    // Every visitor takes one topic that is published and one that is its own, so it is in a region of its own; every
    // third leaves without notice.
    private static List<NodeProcess> ComeAndGo(QsmCluster cluster)
    {
        var visits = new List<NodeProcess>();
        for (var i = 0; i < ScenarioSize.Churns; i++)
        {
            var visitor = cluster.Subscribe(Restless[i % Restless.Length], Topics[i % Topics.Length], $"own/{i % 4}", "--topic");
            visits.Add(visitor);
            if (i % 3 == 2)
            {
                visitor.Send(ProcessSignal.Kill);
            }
            else if (i > 0 && i % 3 == 0)
            {
                Leave(visits[i - 1]);
                Leave(visits[i - 3]);
            }
        }

        visits.ForEach(Leave);
        return visits;
    }

    private static void Leave(NodeProcess visitor)
    {
        if (!visitor.HasExited)
        {
            visitor.Send(ProcessSignal.Terminate);
            visitor.ExpectExit(0);
        }
    }

    private static async Task<List<string>> FeedAsync(NodeProcess publisher, string topic, CancellationToken enough)
    {
        var published = new List<string>();
        using var timer = new PeriodicTimer(Step);
        while (!enough.IsCancellationRequested)
        {
            var lines = TestLines.Make(LinesPerStep, topic, published.Count);
            publisher.Feed(TestLines.Join(lines));
            published.AddRange(lines);
            await timer.WaitForNextTickAsync(CancellationToken.None);
        }

        return published;
    }

    private static List<string> LinesOf(string topic, NodeProcess subscriber)
    {
        // What stands after the last line's end was cut off by a kill.
        var lines = subscriber.Output.Lines();
        return [.. lines[..^1].Where(l => l.StartsWith(topic + "\t", StringComparison.Ordinal)).Select(l => l[(topic.Length + 1)..])];
    }

    private static void AssertOnePiece(List<string> whole, List<string> piece)
    {
        if (piece.Count > 0)
        {
            var from = whole.IndexOf(piece[0]);
            Assert.True(from >= 0, $"never published: {piece[0]}");
            Assert.Equal(whole.Skip(from).Take(piece.Count), piece);
        }
    }
}
