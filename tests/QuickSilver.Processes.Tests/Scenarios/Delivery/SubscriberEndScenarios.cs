using System.Diagnostics;
using QuickSilver.Processes.Tests.Harness;

namespace QuickSilver.Processes.Tests.Scenarios.Delivery;

// A subscriber of the tool ends while messages come. What it does not show any more is no warning.
public sealed class SubscriberEndScenarios : IDisposable
{
    private const int Interrupted = 130;
    private const int Failed = 1;
    // Warnings of the core are of a slow machine, and not of the end.
    private const string Core = "QuickSilver.Core ";
    private const string Kill = "/bin/kill";

    private readonly string _cluster = $"end-{Guid.NewGuid():N}";
    private readonly Stopwatch _time = Stopwatch.StartNew();
    private readonly ToolProcesses _processes = new();
    private readonly string _service;

    public SubscriberEndScenarios() => _service = _processes.StartService(_cluster);

    [Theory]
    [InlineData("prices")]
    [InlineData("price", "--prefix")]
    public async Task At_its_count_a_subscriber_ends_without_a_warning_while_more_messages_come(params string[] watched)
    {
        await using var publishing = new Publishing(Join("pub", "prices"));
        var subscriber = Join(["sub", .. watched, "--count", "3", "--wait"]);
        var errors = subscriber.StandardError.ReadToEndAsync();
        string[] lines = (await subscriber.StandardOutput.ReadToEndAsync()).Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.True(subscriber.WaitForExit(ToolProcesses.Limit));
        Assert.Equal((0, 3), (subscriber.ExitCode, lines.Length));
        // Nothing comes after it.
        Assert.Equal("ready", Lines(await errors).Last());
    }

    [Theory]
    [InlineData("prices")]
    [InlineData("price", "--prefix")]
    public async Task When_its_reader_closes_the_output_a_subscriber_ends_quietly_with_success(params string[] watched)
    {
        // A subscriber that does not make senders wait warns of what it drops. So less comes than a pipe holds until it is closed.
        await using var publishing = new Publishing(Join("pub", "prices"), linesAtOnce: 1);
        var subscriber = Join(["sub", .. watched]);
        ToolProcesses.Await(subscriber.StandardError, "ready");
        Assert.NotNull(await subscriber.StandardOutput.ReadLineAsync());
        subscriber.StandardOutput.Close();
        string errors = await subscriber.StandardError.ReadToEndAsync();
        Assert.True(subscriber.WaitForExit(ToolProcesses.Limit));
        Assert.Equal((0, ""), (subscriber.ExitCode, string.Join('\n', Lines(errors))));
    }

    [Theory]
    [InlineData("prices")]
    [InlineData("price", "--prefix")]
    public async Task A_signal_ends_a_subscriber_without_a_warning_while_more_messages_come(params string[] watched)
    {
        Assert.SkipUnless(File.Exists(Kill), "the command `kill` is missing");
        await using var publishing = new Publishing(Join("pub", "prices"));
        var subscriber = Join(["sub", .. watched, "--wait"]);
        ToolProcesses.Await(subscriber.StandardError, "ready");
        Note("The subscriber is ready.");
        Assert.NotNull(await subscriber.StandardOutput.ReadLineAsync());
        Note("The first line has come.");
        Signal(subscriber);
        var output = subscriber.StandardOutput.ReadToEndAsync();
        string errors = await subscriber.StandardError.ReadToEndAsync();
        Assert.True(subscriber.WaitForExit(ToolProcesses.Limit));
        Note($"The subscriber has ended with {subscriber.ExitCode}: {errors}");
        Assert.Equal((0, ""), (subscriber.ExitCode, string.Join('\n', Lines(errors))));
        Assert.EndsWith("\n", await output);
        Note("Its output has ended.");
    }

    [Fact]
    public async Task A_signal_ends_a_subscriber_whose_output_stands_still_and_it_fails_because_not_all_was_written()
    {
        Assert.SkipUnless(File.Exists(Kill), "the command `kill` is missing");
        await using var publishing = new Publishing(Join("pub", "prices"));
        // More than a pipe keeps comes, and nothing reads it.
        var subscriber = Join("sub", "prices");
        ToolProcesses.Await(subscriber.StandardError, "ready");
        ToolProcesses.AwaitDropped(subscriber.StandardError);
        Signal(subscriber);
        string errors = await subscriber.StandardError.ReadToEndAsync();
        Assert.True(subscriber.WaitForExit(ToolProcesses.Limit), "It does not end.");
        Assert.Equal(Failed, subscriber.ExitCode);
        Assert.Contains("The output stands still: messages that had come were not written.", errors);
    }

    [Theory]
    [InlineData("prices")]
    [InlineData("price", "--prefix")]
    public async Task A_subscriber_that_makes_senders_wait_fails_at_a_signal_when_its_output_stands_still(params string[] watched)
    {
        Assert.SkipUnless(File.Exists(Kill), "the command `kill` is missing");
        var subscriber = Join(["sub", .. watched, "--wait"]);
        ToolProcesses.Await(subscriber.StandardError, "ready");
        // More than a pipe and the command keep, and nothing reads it.
        var publisher = Join("pub", "prices");
        for (int i = 0; i < 300; i++)
        {
            await publisher.StandardInput.WriteAsync(new string('x', 1_000) + "\n");
        }

        publisher.StandardInput.Close();
        Assert.True(publisher.WaitForExit(ToolProcesses.Limit), "The publisher does not end.");
        Signal(subscriber);
        string errors = await subscriber.StandardError.ReadToEndAsync();
        Assert.True(subscriber.WaitForExit(ToolProcesses.Limit), "It does not end.");
        Assert.Equal(Failed, subscriber.ExitCode);
        Assert.Contains("The output stands still: messages that had come were not written.", errors);
    }

    public void Dispose() => _processes.Dispose();

    // What a failure shows of the steps before it, since the end of the publisher may hide what was first.
    private void Note(string step) =>
        TestContext.Current.TestOutputHelper?.WriteLine($"{_time.Elapsed.TotalSeconds:0.000} s: {step}");

    private static IEnumerable<string> Lines(string errors) =>
        errors.Split('\n', StringSplitOptions.RemoveEmptyEntries).Where(static line => !line.Contains(Core, StringComparison.Ordinal));

    private static void Signal(Process process)
    {
        using var kill = Process.Start(Kill, ["-INT", $"{process.Id}"]);
        kill.WaitForExit();
    }

    private Process Join(params string[] arguments) => _processes.Start([.. arguments, "--gms", _service, "--cluster", _cluster]);

    // Writes lines to a publisher until it ends.
    private sealed class Publishing : IAsyncDisposable
    {
        private readonly Process _publisher;
        private readonly int _linesAtOnce;
        private readonly Task _writing;
        private volatile bool _isOver;

        public Publishing(Process publisher, int linesAtOnce = 50)
        {
            _publisher = publisher;
            _linesAtOnce = linesAtOnce;
            _writing = Task.Run(WriteAsync);
        }

        public async ValueTask DisposeAsync()
        {
            _isOver = true;
            await _writing;
            _publisher.StandardInput.Close();
            Assert.True(_publisher.WaitForExit(ToolProcesses.Limit), "The publisher does not end.");
            Assert.NotEqual(Interrupted, _publisher.ExitCode);
        }

        private async Task WriteAsync()
        {
            for (int i = 0; !_isOver; i++)
            {
                await _publisher.StandardInput.WriteAsync($"price {i} {new string('x', 60)}\n");
                if (i % _linesAtOnce == 0)
                {
                    // No faster than a subscriber that ends can hand on.
                    await Task.Delay(1);
                }
            }
        }
    }
}
