using System.Collections.Concurrent;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Security.Cryptography;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests;

// The node is started while a request runs. Handlers and log lines of the node must know nothing of that request.
public sealed class AmbientContextTests
{
    private static readonly AsyncLocal<object?> User = new();

    public static TheoryData<bool, bool> EachNode() => new() { { false, false }, { false, true }, { true, false } };

    [Theory]
    [MemberData(nameof(EachNode))]
    public async Task Handlers_and_log_lines_have_nothing_of_the_execution_context_in_which_the_node_was_started(
        bool isInMemory, bool isSealed)
    {
        using var logs = new ContextLogs();
        var (node, user) = await Task.Run(() => FirstRequestAsync(isInMemory, isSealed, logs)).OrFail();
        var found = new ConcurrentQueue<string>();
        await using (node)
        {
            await UseAsync(node, found).OrFail();
        }

        Assert.Equal(["consumer: ", "end of the consumer: ", "inline handler: ", "inline responder: "], found.Order());
        Assert.NotEmpty(logs.Lines);
        Assert.DoesNotContain(logs.Lines, static line => line.Length > 0);
        GC.KeepAlive(user);
    }

    [Theory]
    [MemberData(nameof(EachNode))]
    public async Task The_context_in_which_a_node_was_started_is_released_while_the_node_lives(bool isInMemory, bool isSealed)
    {
        using var logs = new ContextLogs();
        var (node, user) = await Task.Run(() => FirstRequestAsync(isInMemory, isSealed, logs)).OrFail();
        await using (node)
        {
            // The timers of the start are over, and threads of the pool have forgotten what they ran last.
            await Patience.Until(() =>
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
                return !user.IsAlive;
            });
        }
    }

    [Fact]
    public async Task Values_that_a_handler_leaves_in_the_execution_context_do_not_reach_the_handlers_of_later_messages()
    {
        await using var node = await new InMemoryNetwork().StartNodeAsync(new QuickSilverOptions()).OrFail();
        await using var topic = await node.OpenTopicAsync<string>("t").OrFail();
        var found = new ConcurrentQueue<object?>();
        using var handler = topic.SubscribeInline((in Message<string> message) =>
        {
            found.Enqueue(User.Value);
            User.Value = message.Value;
        });
        for (int i = 1; i <= 3; i++)
        {
            await topic.PublishAsync("left behind").OrFail();
            await Patience.Until(() => found.Count == i);
        }

        Assert.All(found, Assert.Null);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static async Task<(QuickSilverNode Node, WeakReference User)> FirstRequestAsync(
        bool isInMemory, bool isSealed, ContextLogs logs)
    {
        using var activity = new Activity("GET /first").Start();
        User.Value = new object();
        var options = new QuickSilverOptions { Cluster = $"ambient {Guid.NewGuid():N}" };
        if (isSealed)
        {
            options.Security.UseSecret(Secret.Of("cluster", RandomNumberGenerator.GetBytes(Secret.LeastKeyBytes)).Reveal());
        }

        var node = isInMemory
            ? await new InMemoryNetwork().StartNodeAsync(options, logs)
            : await QuickSilverNode.StartAsync(options, logs);
        return (node, new WeakReference(User.Value));
    }

    private static async Task UseAsync(QuickSilverNode node, ConcurrentQueue<string> found)
    {
        await using var topic = await node.OpenTopicAsync<string>("t");
        var messages = new CountdownEvent(2);
        using var handler = topic.SubscribeInline((in Message<string> _) =>
        {
            found.Enqueue($"inline handler: {Context()}");
            messages.Signal();
        });
        var consumption = topic.Subscribe(
            (_, _) =>
            {
                found.Enqueue($"consumer: {Context()}");
                messages.Signal();
                return default;
            },
            new ConsumerOptions<string> { OnEnded = _ => found.Enqueue($"end of the consumer: {Context()}") });
        await using var responder = await node.OpenResponderAsync<string, string>(
            "q",
            (_, _) =>
            {
                found.Enqueue($"inline responder: {Context()}");
                return new("yes");
            },
            new ResponderOptions { Inline = true });
        await topic.PublishAsync("a");
        await using var requester = await node.OpenRequesterAsync<string, string>("q");
        await requester.AskAsync("?");
        await Patience.Until(() => messages.IsSet);
        await consumption.DisposeAsync();
    }

    private static string Context() => $"{User.Value}{Activity.Current?.OperationName}";

    // Notes what is in the execution context of each line, as a provider with scopes would show it.
    private sealed class ContextLogs : ILoggerFactory, ILogger
    {
        // The caller's thread logs too, with the context of the caller.
        private readonly ConcurrentQueue<string> _lines = new();

        public IReadOnlyCollection<string> Lines => _lines;

        public ILogger CreateLogger(string categoryName) => this;

        public void AddProvider(ILoggerProvider provider)
        {
        }

        public void Dispose()
        {
        }

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (Thread.CurrentThread.Name?.StartsWith("QuickSilver", StringComparison.Ordinal) == true)
            {
                _lines.Enqueue(Context());
            }
        }
    }
}
