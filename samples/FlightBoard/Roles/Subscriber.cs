using QuickSilver;

namespace FlightBoard.Roles;

// Follows the airports of one area, and holds every departure that it receives against the file.
internal static class Subscriber
{
    public static async Task<int> RunAsync(string cluster, string area)
    {
        var expected = FlightFile.Read().Where(departure => Areas.Follows(area, departure.Origin)).ToList();
        await using var run = await ChildRun.StartAsync(cluster);
        var check = new ReplayCheck(expected);
        Task reports = run.ReportUntilStoppedAsync(check.Take);
        try
        {
            var topics = await Task.WhenAll(check.Origins.Select(origin =>
                run.Node.OpenSubscriberAsync<Departure>(FlightFile.TopicOf(origin), cancellationToken: run.Stop)));
            var readers = topics.Select(topic => ReadAsync(topic, check, run.Stop)).ToList();
            check.IsReady = true;
            await Task.WhenAll(readers);
        }
        catch (Exception exception) when (!run.Stop.IsCancellationRequested)
        {
            check.Fail(exception.Message);
        }
        catch (OperationCanceledException)
        {
            // Stopped while it opened its topics; what it lacks is reported below.
        }

        await reports;
        return check.IsRight ? 0 : 1;
    }

    private static async Task ReadAsync(ITopicSubscriber<Departure> topic, ReplayCheck check, CancellationToken stop)
    {
        try
        {
            await foreach (var message in topic.ReadAllAsync(
                gap => check.Fail($"{topic.Name}: {gap.Count} missing: {gap.Reason}"), stop))
            {
                check.Add(message.Value);
            }
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            // The board has seen enough.
        }
    }
}
