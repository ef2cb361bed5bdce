using System.Diagnostics;
using QuickSilver;

namespace FlightBoard.Roles;

// Replays the file in its own rhythm, many thousand times as fast, each departure to the topic of its airport.
internal static class Publisher
{
    private static readonly TimeSpan SubscribersLimit = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan StableLimit = TimeSpan.FromSeconds(10);

    public static async Task<int> RunAsync(string cluster, TimeSpan replay)
    {
        var departures = FlightFile.Read();
        await using var run = await ChildRun.StartAsync(cluster);
        var progress = new Progress(departures.Count);
        Task reports = run.ReportUntilStoppedAsync(progress.Take);
        try
        {
            var topics = await OpenAsync(run, departures);
            progress.Topics = topics.Count;
            await ReplayAsync(departures, topics, replay, progress, run.Stop);
            await DrainAsync(run, progress);

            progress.Phase = Phase.Done;
        }
        catch (Exception exception) when (!run.Stop.IsCancellationRequested)
        {
            progress.Fault = exception.Message;
            progress.Phase = Phase.Done;
        }
        catch (OperationCanceledException)
        {
            progress.Fault = "stopped before its end";
        }

        await reports;
        return progress.Fault is null ? 0 : 1;
    }

    // A topic per airport; each has to have its followers before the first departure, because a late one gets only what is
    // sent after that.
    private static async Task<Dictionary<string, ITopicPublisher<Departure>>> OpenAsync(ChildRun run, IReadOnlyList<Departure> departures)
    {
        var origins = departures.Select(departure => departure.Origin).Distinct().ToList();
        var topics = await Task.WhenAll(origins.Select(origin =>
            run.Node.OpenPublisherAsync<Departure>(FlightFile.TopicOf(origin), cancellationToken: run.Stop)));
        await Task.WhenAll(origins.Zip(topics, (origin, topic) => topic.WaitForSubscribersAsync(Areas.FollowersOf(origin), run.Stop)))
            .WaitAsync(SubscribersLimit, run.Stop);
        return origins.Zip(topics).ToDictionary();
    }

    private static async Task DrainAsync(ChildRun run, Progress progress)
    {
        using var limit = new CancellationTokenSource(StableLimit);
        try
        {
            await run.Node.DrainAsync(limit.Token);
        }
        catch (OperationCanceledException)
        {
            progress.Fault = $"not all was acknowledged within {StableLimit.TotalSeconds} s";
        }
    }

    private static async Task ReplayAsync(
        IReadOnlyList<Departure> departures,
        Dictionary<string, ITopicPublisher<Departure>> topics,
        TimeSpan replay,
        Progress progress,
        CancellationToken stop)
    {
        progress.Phase = Phase.Running;
        DateTime first = departures[0].At;
        double speed = (departures[^1].At - first) / replay;
        long start = Stopwatch.GetTimestamp();
        foreach (var departure in departures)
        {
            TimeSpan due = (departure.At - first) / speed;
            TimeSpan early = due - Stopwatch.GetElapsedTime(start);
            if (early > TimeSpan.FromMilliseconds(1))
            {
                await Task.Delay(early, stop);
            }

            await topics[departure.Origin].PublishAsync(departure, stop);
            progress.Add(departure);
        }
    }

    private sealed class Progress(int expected)
    {
        private readonly Lock _lock = new();
        private readonly DelayFigures _delays = new();
        private long _count;
        private DateTime _clock;

        public volatile Phase Phase;
        public volatile int Topics;
        public volatile string? Fault;

        public void Add(Departure departure)
        {
            lock (_lock)
            {
                _delays.Add(departure);
                _clock = departure.At;
                _count++;
            }
        }

        public ProcessStatus Take()
        {
            lock (_lock)
            {
                var (origin, minutes) = _delays.Worst();
                return new ProcessStatus
                {
                    Phase = Phase,
                    Count = _count,
                    Expected = expected,
                    Clock = _clock,
                    MeanDelayMinutes = _delays.MeanMinutes,
                    WorstOrigin = origin,
                    WorstDelayMinutes = minutes,
                    Topics = Topics,
                    Fault = Fault,
                };
            }
        }
    }
}
