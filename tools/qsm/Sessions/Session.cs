using System.CommandLine;
using System.Runtime.InteropServices;
using Microsoft.Extensions.Logging;
using QuickSilver.Composition;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Tool.Catalog;
using QuickSilver.Tool.Lines;
using Serilog;
using Serilog.Events;
using Serilog.Extensions.Logging;
using Serilog.Sinks.SystemConsole.Themes;

namespace QuickSilver.Tool.Sessions;

// One run of a command: its logs, its signals, its node, and the exit code that its end amounts to.
internal sealed class Session : IDisposable
{
    private static readonly TimeSpan PatienceBeforeNote = TimeSpan.FromSeconds(1);

    private static readonly TimeSpan KeyFaultInterval = TimeSpan.FromMilliseconds(50);

    private const int OpenAttempts = 3;
    // The log event of a node that a topic was refused.
    private const int TopicRefused = 1610;
    // That an endpoint ended before all that had come was handled.
    private const int MessagesUnhandled = 1650;

    private readonly Interruption _interruption = new();
    private readonly SerilogLoggerFactory _logs;
    private readonly QuickSilverOptions _options;

    private Session(QuickSilverOptions options, bool verbose)
    {
        _options = options;
        IsVerbose = verbose;
        var lines = new LoggerConfiguration()
            .MinimumLevel.Verbose()
            .WriteTo.Console(
                outputTemplate: "{Timestamp:HH:mm:ss.fff} {Level:u3} {SourceContext}{Event:l}: {Message:lj}{NewLine}{Exception}",
                standardErrorFromLevel: LogEventLevel.Verbose,
                theme: Console.IsErrorRedirected ? ConsoleTheme.None : AnsiConsoleTheme.Literate)
            .CreateLogger();
        _logs = new SerilogLoggerFactory(new LoggerConfiguration()
            .MinimumLevel.Is(verbose ? LogEventLevel.Debug : LogEventLevel.Warning)
            .Enrich.With<EventNumber>()
            .Filter.ByExcluding(one => ReportsRefusals && !verbose && EventNumber.Of(one) == TopicRefused)
            .Filter.ByExcluding(one => LeavesUnhandled && !verbose && EventNumber.Of(one) == MessagesUnhandled)
            .WriteTo.Sink(new LogLines(lines))
            .CreateLogger(), dispose: true);
    }

    public CancellationToken Interrupted => _interruption.Token;

    /// <summary>Gets SIGINT and SIGTERM while it is set. They do not end this command then.</summary>
    public Action<PosixSignal>? SignalReceiver
    {
        get => _interruption.Receiver;
        set => _interruption.Receiver = value;
    }

    public bool IsVerbose { get; }

    /// <summary>
    /// The command opens topics that it expects to be refused, and reports other refusals. The log has them only with --verbose.
    /// </summary>
    public bool ReportsRefusals { get; set; }

    /// <summary>
    /// What comes while the command leaves, its own last messages among it, is nothing to it. The log has it only with --verbose.
    /// </summary>
    public bool LeavesUnhandled { get; set; }

    public ILoggerFactory Logs => _logs;

    public QuickSilverOptions Options => _options;

    public static async Task<int> RunAsync(ParseResult parse, CommonOptions common, Func<Session, Task<int>> body)
    {
        QuickSilverOptions options;
        try
        {
            options = common.Read(parse);
        }
        catch (ToolException exception)
        {
            Terminal.Error(exception.Message);
            return exception.ExitCode;
        }

        using var session = new Session(options, common.IsVerbose(parse));
        try
        {
            return await body(session);
        }
        catch (OperationCanceledException) when (session.Interrupted.IsCancellationRequested)
        {
            return ExitCode.Interrupted;
        }
        catch (Exception exception) when (ClosedPipe.IsCauseOf(exception))
        {
            return ExitCode.Ok;
        }
        catch (ToolException exception)
        {
            Terminal.Error(exception.Message);
            session.Logs.CreateLogger("qsm").LogDebug(exception, "The command failed");
            return exception.ExitCode;
        }
        catch (Exception exception)
        {
            Terminal.Error(exception.Message);
            session.Logs.CreateLogger("qsm").LogDebug(exception, "The command failed");
            return ExitCode.Failed;
        }
    }

    /// <param name="around">What to put around the node's parts, to listen to them; null: nothing.</param>
    /// <param name="configurations">What several nodes of this process share; null: the node is the only one.</param>
    /// <param name="application">What the name of the node has in place of this tool's; null: this tool's.</param>
    public async Task<QuickSilverNode> StartNodeAsync(
        Func<INodeParts, INodeParts>? around = null, ConfigurationCache? configurations = null, string? application = null)
    {
        try
        {
            OptionRules.Check(_options);
            var options = _options.Copy();
            options.Application = application ?? options.Application;
            var parts = await NodeComposition.ForMachineAsync(options, _logs, Interrupted, configurations);
            return await StartAsync(around?.Invoke(parts) ?? parts, options);
        }
        catch (Exception exception) when (exception is not (OperationCanceledException or ToolException))
        {
            throw ToolException.OnStart(exception);
        }
    }

    // A node tries until its time is over, because a service may come back with other keys. A user at a terminal learns it at once.
    private async Task<QuickSilverNode> StartAsync(INodeParts parts, QuickSilverOptions options)
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(Interrupted);
        var starting = QuickSilverNode.StartAsync(parts, options, _logs, ended.Token);
        while (await Task.WhenAny(starting, Task.Delay(KeyFaultInterval)) != starting)
        {
            if (parts.KeyFailure is { } failure)
            {
                await ended.CancelAsync();
                await starting.ContinueWith(static _ => { }, TaskScheduler.Default);
                throw new ToolException(ExitCode.Unreachable, $"The node cannot join: {failure.TrimEnd('.')}.");
            }
        }

        return await starting;
    }

    // What the tool sends is bytes, so that all its commands meet under one contract; only perf sends other things too.
    public Task<ITopic<ReadOnlyMemory<byte>>> OpenTopicAsync(QuickSilverNode node, string topic) =>
        OpenAsync<ReadOnlyMemory<byte>, ITopic<ReadOnlyMemory<byte>>>(
            topic, node.OpenTopicAsync<ReadOnlyMemory<byte>>(topic, options: null, Interrupted));

    public Task<ITopicPublisher<ReadOnlyMemory<byte>>> OpenPublisherAsync(QuickSilverNode node, string topic) =>
        OpenPublisherAsync<ReadOnlyMemory<byte>>(node, topic);

    public Task<ITopicPublisher<T>> OpenPublisherAsync<T>(QuickSilverNode node, string topic) =>
        OpenAsync<T, ITopicPublisher<T>>(topic, node.OpenPublisherAsync<T>(topic, options: null, Interrupted));

    public Task<ITopicSubscriber<ReadOnlyMemory<byte>>> OpenSubscriberAsync(QuickSilverNode node, string topic) =>
        OpenSubscriberAsync<ReadOnlyMemory<byte>>(node, topic);

    public Task<ITopicSubscriber<T>> OpenSubscriberAsync<T>(QuickSilverNode node, string topic) =>
        OpenAsync<T, ITopicSubscriber<T>>(topic, node.OpenSubscriberAsync<T>(topic, options: null, Interrupted));

    /// <summary>Subscribes to a topic of whatever type, with the guarantee that it has.</summary>
    /// <param name="node">The node.</param>
    /// <param name="topic">The name of the topic.</param>
    /// <param name="assumed">The guarantee of a topic that no node has open. Null: reliable, which is said.</param>
    /// <param name="asReader">What applies to the reader; null: senders wait for it.</param>
    public async Task<ITopicSubscriber<ReadOnlyMemory<byte>>> OpenWatcherAsync(
        QuickSilverNode node, string topic, Guarantee? assumed, Func<TopicOptions, TopicOptions>? asReader = null)
    {
        var codec = new AnyCodec();
        for (int attempt = 1; ; attempt++)
        {
            var contracts = await TopicCatalog.ReadAsync(this, topic);
            AnsweredTopics.CheckSubscribe(contracts);
            try
            {
                var found = contracts.OptionsOr(assumed ?? Guarantee.Reliable);
                var options = new TopicOptions<ReadOnlyMemory<byte>>(asReader?.Invoke(found) ?? found) { Codec = codec };
                var watcher = await node.OpenSubscriberAsync<ReadOnlyMemory<byte>>(topic, options, Interrupted);
                if (!contracts.IsOpen && assumed is null)
                {
                    Terminal.Note(
                        $"No node has the topic '{topic}' open. It is assumed to be {Guarantee.Reliable}: until this command ends, a node "
                        + "that opens it with another guarantee is refused. Name the other one with --guarantee.");
                }

                return watcher;
            }
            catch (ContractMismatchException) when (attempt < OpenAttempts)
            {
                // Another node has opened it meanwhile, with another guarantee.
            }
            catch (Exception exception) when (exception is not (OperationCanceledException or ToolException))
            {
                throw ToolException.OnOpen(topic, exception, carriesBytes: false);
            }
        }
    }

    /// <summary>Subscribes where no node publishes: the subscribers see each other's number.</summary>
    public Task<TopicEndpoint<ReadOnlyMemory<byte>>> OpenBarrierAsync(QuickSilverNode node, string topic) =>
        OpenAsync<ReadOnlyMemory<byte>, TopicEndpoint<ReadOnlyMemory<byte>>>(
            topic, node.OpenEndpointAsync<ReadOnlyMemory<byte>>(topic, TopicAccess.Subscribe, stop: Interrupted));

    // Says what it waits for when that takes more than a moment, so that a forgotten subscriber is no riddle.
    public async Task WaitForSubscribersAsync(ITopicPublisher<ReadOnlyMemory<byte>> topic, int count)
    {
        Task arrived = topic.WaitForSubscribersAsync(count, Interrupted);
        if (await Task.WhenAny(arrived, Task.Delay(PatienceBeforeNote, Interrupted)) != arrived)
        {
            Terminal.Note($"waiting for {Counted.Of(count, "subscriber")} of {topic.Name}");
        }

        await arrived;
    }

    private static async Task<TTopic> OpenAsync<T, TTopic>(string topic, Task<TTopic> opening)
    {
        try
        {
            return await opening;
        }
        catch (Exception exception) when (exception is not OperationCanceledException)
        {
            throw ToolException.OnOpen(topic, exception, carriesBytes: typeof(T) == typeof(ReadOnlyMemory<byte>));
        }
    }

    public void Dispose()
    {
        _interruption.Dispose();
        _logs.Dispose();
    }
}
