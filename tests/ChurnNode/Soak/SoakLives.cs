using System.Globalization;
using QuickSilver;

namespace ChurnNode.Soak;

// A process whose nodes come and go at a rate: each opens the state, changes it, sends a request, publishes a few messages that become
// stable at all that stay, and leaves.
//
// Input: "pause" begins no life and writes "paused COUNT FAILED" when none runs; "measure" writes the footprint; "resume" continues; the
// end of the input ends it.
internal static class SoakLives
{
    private static readonly TimeSpan LifeLimit = TimeSpan.FromSeconds(60);
    // More at once are a service that does not take them in.
    private const int MostAtOnce = 16;
    private static long _whole;
    private static long _failed;
    private static readonly Lock Count = new();
    private static int _running;
    private static bool _isPaused;
    // Completes when no life runs any more; null: nothing waits for that.
    private static TaskCompletionSource? _rest;
    private static volatile bool _isEnded;

    public static async Task<int> RunAsync(QuickSilverOptions options, int stayers, int index, int perMinute)
    {
        using var logs = NodeStart.Logs();
        var beginning = BeginAsync(options, logs, stayers, index, TimeSpan.FromMinutes(1) / perMinute);
        Console.Out.WriteLine("ready");
        while (await Task.Run(Console.In.ReadLine) is { } verb)
        {
            switch (verb)
            {
                case "pause":
                    await PauseAsync();
                    long whole = Interlocked.Read(ref _whole);
                    long failed = Interlocked.Read(ref _failed);
                    Console.Out.WriteLine(string.Create(CultureInfo.InvariantCulture, $"paused {whole} {failed}"));
                    break;
                case "measure":
                    Console.Out.WriteLine(Footprint.Measure());
                    break;
                case "resume":
                    lock (Count)
                    {
                        _isPaused = false;
                    }

                    break;
            }
        }

        _isEnded = true;
        await beginning;
        return 0;
    }

    private static Task PauseAsync()
    {
        lock (Count)
        {
            _isPaused = true;
            if (_running == 0)
            {
                return Task.CompletedTask;
            }

            _rest ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            return _rest.Task;
        }
    }

    // No life begins after a pause was answered.
    private static bool TryBegin()
    {
        lock (Count)
        {
            if (_isPaused || _running >= MostAtOnce)
            {
                return false;
            }

            _running++;
            return true;
        }
    }

    private static void OnEnd()
    {
        lock (Count)
        {
            if (--_running == 0)
            {
                _rest?.SetResult();
                _rest = null;
            }
        }
    }

    private static async Task BeginAsync(
        QuickSilverOptions options, Serilog.Extensions.Logging.SerilogLoggerFactory logs, int stayers, int index, TimeSpan interval)
    {
        using var due = new PeriodicTimer(interval);
        long lives = 0;
        while (await due.WaitForNextTickAsync() && !_isEnded)
        {
            if (TryBegin())
            {
                _ = LiveAsync(options, logs, stayers, ((long)index << 32) + ++lives);
            }
        }
    }

    private static async Task LiveAsync(
        QuickSilverOptions options, Serilog.Extensions.Logging.SerilogLoggerFactory logs, int stayers, long life)
    {
        try
        {
            using var limit = new CancellationTokenSource(LifeLimit);
            await using var node = await QuickSilverNode.StartAsync(options, logs, cancellationToken: limit.Token);
            await using var state = await node.OpenStateAsync<string, string>(SoakTopics.State, cancellationToken: limit.Token);
            string number = life.ToString(CultureInfo.InvariantCulture);
            await state.SetAsync(SoakTopics.Key(life), number, limit.Token);
            await using (var requester = await node.OpenRequesterAsync<string, string>(SoakTopics.Request, cancellationToken: limit.Token))
            {
                string answer = await requester.AskAsync(number, cancellationToken: limit.Token);
                if (answer != number)
                {
                    throw new InvalidOperationException($"The answer to {number} is {answer}.");
                }
            }

            await using var topic = await node.OpenPublisherAsync<string>(SoakTopics.OfLife(life), cancellationToken: limit.Token);
            await topic.WaitForSubscribersAsync(stayers, limit.Token);
            for (int i = 0; i < SoakTopics.MessagesOfLife; i++)
            {
                await topic.PublishAsync(number, PublishCompletion.Stable, limit.Token);
            }

            Interlocked.Increment(ref _whole);
        }
        catch (Exception exception)
        {
            Interlocked.Increment(ref _failed);
            // Not where it was thrown: the runtime opens the symbols of each assembly to print that, and keeps them open.
            Console.Error.WriteLine($"life {life} failed: {exception.GetType().Name}: {exception.Message}");
        }
        finally
        {
            OnEnd();
        }
    }
}
