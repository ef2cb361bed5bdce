using System.Globalization;
using QuickSilver.Campaign.Contenders;
using QuickSilver.Campaign.Contenders.Testbeds;

namespace QuickSilver.Campaign;

// What an application meets in daily use: requests, a reader that does not read, and an observer.
internal sealed class EverydaySections(Namespaces namespaces)
{
    private const double WatchedMessagesPerSecond = 1e6;

    // Requests that wait at the same time, where many do.
    private const int ManyRequests = 64;

    private readonly Bridge _bridge = new(namespaces);

    public Section Requests()
    {
        var ping = new Row(new OwnRoundTrip(_bridge, "round trip of a topic"));
        Row Asked(string name, int responders, int outstanding, params string[] options) =>
            new Row(new RequestContender(_bridge, name, responders, outstanding, options))
                .Hold("view changes", Figure.ViewChanges, Bar.AtMost(0));
        Row Beside(Row row) => row.Hold("p50", row, ping, Figure.P50, Bar.AtMost(2));
        return new Section
        {
            Title = "Requests",
            Slug = "requests",
            Text = $"""
                100 B there and back, one at a time: between handlers on the core threads (`qsm perf ping`), and as requests, from the call
                to the continuation after `await`. A responder may wait, unless it is inline. {ManyRequests} at a time are to two
                responders, each of which handles every request. A ratio is over the round trip of a topic in the same round.
                """,
            Load = new Load(2, 100),
            Figures = [.. Figure.RoundTrip, Figure.Rate with { Title = "requests/s" }, Figure.ViewChanges],
            ClaimTitle = "Held to",
            Rows =
            [
                ping,
                Beside(Asked("one responder", 1, 1)),
                Beside(Asked("two responders", 2, 1)),
                Beside(Asked("one inline responder", 1, 1, "--inline")),
                Asked($"two responders, {ManyRequests} at a time", 2, ManyRequests)
                    .Hold("requests/s", Figure.Rate, Bar.AtLeast(20_000)),
            ],
        };
    }

    public Section SlowReader()
    {
        var read = new Row(new BesideContender(_bridge, "A is read", stalls: false));
        var stalled = new Row(new BesideContender(_bridge, "A is not read", stalls: true));
        var half = new RateShare(read.Runs, 0.5);
        var readAtHalf = new Row(new BesideContender(_bridge, "A is read, B at half the peak", stalls: false, half));
        var stalledAtHalf = new Row(new BesideContender(_bridge, "A is not read, B at half the peak", stalls: true, half));
        foreach (var (row, over) in ((Row, Row)[])[(stalled, read), (stalledAtHalf, readAtHalf)])
        {
            row.Hold("rate", row, over, Figure.Rate, Bar.AtLeast(0.95))
                .Hold("p99", row, over, Figure.P99, Bar.AtMost(2))
                .Hold("publisher, s", Figure.PublisherNamed, Bar.AtMost(6))
                .Hold("reader, s", Figure.ReaderNamed, Bar.AtMost(6));
        }

        return new Section
        {
            Title = "A reader that does not read",
            Slug = "slow-reader",
            Text = """
                One publisher with two topics, A and B, to the same two nodes. A goes at 10,000 messages of 1000 B a second. B is measured,
                as fast as it goes and at half of that: its rate, and the time from its publishing to its handler, at the slower receiver.
                In one of the two nodes, the reader of A takes one message and then reads no more until the end. It is named by the log of
                the publisher's node, counted from the last message of A that could be published, and by that of the reader's node, counted
                from the moment when the reader stopped. A ratio is over the run in which A is read, of the same round.
                """,
            Load = new Load(2, 1000),
            Figures = [Figure.Rate, Figure.Lost, .. Figure.RoundTrip, Figure.PublisherNamed, Figure.ReaderNamed],
            ClaimTitle = "Held to",
            Rows = [read, stalled, readAtHalf, stalledAtHalf],
        };
    }

    public Section Watching()
    {
        Row Watched(string name, Watcher watcher) =>
            new Row(new WatchContender(_bridge, name, watcher, WatchedMessagesPerSecond))
                .Hold("% of a core", Figure.CorePercent, Bar.AtMost(5));
        return new Section
        {
            Title = "Watching",
            Slug = "watching",
            Text = string.Create(CultureInfo.InvariantCulture, $"""
                What a program that watches costs, while the cluster moves {WatchedMessagesPerSecond:N0} messages of 100 B a second to two
                receivers: processor time of its process, user and system, in percent of one core. It refreshes once a second, and has run
                for 5 s when the measurement begins.
                """),
            Load = new Load(2, 100),
            Figures = [Figure.CorePercent, Figure.Rate, Figure.Lost],
            ClaimTitle = "Held to",
            Rows =
            [
                Watched("qsm top", Watcher.Top),
                Watched("qsm top, on a terminal", Watcher.TopOnTerminal),
                Watched("qsm dashboard", Watcher.Dashboard),
                Watched("qsm dashboard, a page open", Watcher.OpenDashboard),
            ],
        };
    }
}
