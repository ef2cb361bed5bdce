using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using QuickSilver.Composition;
using QuickSilver.Core.Background;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Hosting.Configuration;

namespace QuickSilver.Hosting;

// The options of a node, read when they are asked for: wrong ones must fail the host's start and not its building.
internal sealed class NodeSettings(HostedNode node, IServiceProvider provider)
{
    public QuickSilverOptions Node => node.NodeOptions(provider);

    public QuickSilverHostingOptions Hosting => node.HostingOptions(provider);

    /// <summary>Has no effect in a container without a host.</summary>
    public void StopHost() => provider.GetService<IHostApplicationLifetime>()?.StopApplication();

    /// <summary>How long the host waits for its services when it stops.</summary>
    public TimeSpan ShutdownTimeout => provider.GetRequiredService<IOptions<HostOptions>>().Value.ShutdownTimeout;

    /// <summary>The nodes of the host that are still to be drained.</summary>
    public int NodesLeft => provider.GetServices<HostedNode>().Count(one => !one.Get<NodeLifetime>(provider).HasStopped);

    /// <summary>Has no effect in a container without a host.</summary>
    public void OnStopping(Action stopping) =>
        provider.GetService<IHostApplicationLifetime>()?.ApplicationStopping.UnsafeRegister(
            static stopping => ((Action)stopping!)(), stopping);

    public string LogCategory => node.Key is null ? "QuickSilver.Hosting" : $"QuickSilver.Hosting.{node.Key}";
}

// Starts the node in the background, so that no host waits for a network or for peers; starts another when one could not join or was
// expelled, or stops the host then if the options say so; drains and ends it with the host.
//
// The node is there before and after all services of the host that use it, whatever the order in which they were added: a service may await
// a publish in its StartAsync, and publish in its StopAsync. So the node starts in StartingAsync and ends in StoppedAsync, and this is the
// first of the hosted services. Consumers and responders call code that needs the other services: see ConsumerLifetime.
internal sealed class NodeLifetime(
    NodeSettings settings,
    NodeStarter starter,
    NodeHolder holder,
    IHostedTopic[] topics,
    ILoggerFactory logs,
    TimeProvider time)
    : IHostedLifecycleService, IAsyncDisposable, IDisposable
{
    // Between attempts, doubling: a service that is down is not hammered, one that comes back is found soon.
    private static readonly TimeSpan FirstPause = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(30);

    private static readonly string ConsumerOption = $"{ConfigurationKeys.Hosting}:{nameof(QuickSilverHostingOptions.ConsumerLimit)}";

    private readonly ILogger _log = GuardedLoggers.Of(logs).CreateLogger(settings.LogCategory);
    private readonly IHostedTopic[] _topics = topics;
    private readonly CancellationTokenSource _stop = new();
    // Completes when the services that were added before the node have started.
    private readonly TaskCompletionSource _consumersBegin = new(SoleThreadContext.Completions);
    private volatile bool _areConsumersOver;
    // False in a host that calls StartAsync and StopAsync alone.
    private bool _hasLifecycle;
    private readonly StopClock _stopping = new(time);
    private Task _running = Task.CompletedTask;

    /// <summary>Whether consumers were asked to end. From any thread.</summary>
    public bool IsStoppingConsumers => _areConsumersOver;

    public static NodeLifetime Of(HostedNode node, IServiceProvider provider) => new(
        new NodeSettings(node, provider),
        provider.GetRequiredService<NodeStarter>(),
        node.Get<NodeHolder>(provider),
        node.Topics(provider),
        provider.GetRequiredService<ILoggerFactory>(),
        provider.GetRequiredService<TimeProvider>());

    /// <summary>Whether the node needs no more of the host's time for stopping, except for its end.</summary>
    public bool HasStopped { get; private set; }

    public Task StartingAsync(CancellationToken cancellationToken)
    {
        _hasLifecycle = true;
        Begin();
        return Task.CompletedTask;
    }

    public Task StartAsync(CancellationToken cancellationToken)
    {
        if (!_hasLifecycle)
        {
            Begin();
        }

        return Task.CompletedTask;
    }

    public Task StartedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppingAsync(CancellationToken cancellationToken)
    {
        _stopping.Begin();
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken) =>
        _hasLifecycle ? Task.CompletedTask : EndAsync(cancellationToken);

    public Task StoppedAsync(CancellationToken cancellationToken) => EndAsync(cancellationToken);

    /// <summary>Opens the topics of consumers and responders, on this node and the next ones.</summary>
    public void BeginConsumers() => _consumersBegin.TrySetResult();

    /// <summary>Ends the consumers and readers after what was acknowledged for them, and the responders.</summary>
    public async Task StopConsumersAsync(CancellationToken cancellationToken)
    {
        // A host that is stopped without its lifetime comes here first.
        _stopping.Begin();
        if (_areConsumersOver)
        {
            return;
        }

        _areConsumersOver = true;
        await EndConsumersAsync(_topics, cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
    }

    private async Task EndConsumersAsync(IHostedTopic[] topics, CancellationToken cancellationToken)
    {
        using var limit = new CancellationTokenSource(settings.Hosting.ConsumerLimit, time);
        using var both = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
        var consumers = Task.WhenAll(topics.Select(topic => topic.StopConsumersAsync(both.Token)));
        int[] reading = await Task.WhenAll(topics.Select(topic => topic.StopReadersAsync(both.Token)))
            .ConfigureAwait(SoleThreadContext.IsCurrent);
        int[] consuming = await consumers.ConfigureAwait(SoleThreadContext.IsCurrent);
        var (option, allowed) = limit.IsCancellationRequested
            ? (ConsumerOption, settings.Hosting.ConsumerLimit)
            : ("HostOptions.ShutdownTimeout", settings.ShutdownTimeout);
        if (consuming.Sum() > 0)
        {
            HostingLog.ConsumersNotStopped(_log, NamesOf(consuming), option, allowed);
        }

        if (reading.Sum() > 0)
        {
            HostingLog.ReadersNotStopped(_log, NamesOf(reading), option, allowed);
        }

        string NamesOf(int[] running) => string.Join(
            ", ", topics.Where((_, at) => running[at] > 0).Select(static topic => $"\"{topic.Name}\"").Distinct());
    }

    // The container may dispose this more than once: it was resolved under two types.
    public async ValueTask DisposeAsync()
    {
        await SoleThreadContext.CancelAsync(_stop).ConfigureAwait(SoleThreadContext.IsCurrent);
        await _running.ConfigureAwait(SoleThreadContext.IsCurrent);
        // After a start that failed, the host stops nothing. What waits for the node must not wait forever.
        holder.End();
    }

    // A container that is not disposed asynchronously does not wait for the node's end.
    public void Dispose() => _stop.Cancel();

    private void Begin()
    {
        // Here and not in the background: wrong options are the host's failure, with or without its validation at start.
        var checkedOptions = settings.Node;
        foreach (var topic in _topics)
        {
            topic.OnHostStarted(_log, time);
        }

        settings.OnStopping(_stopping.Begin);
        _running = Detached.Begin(() => RunAsync(checkedOptions));
    }

    private async Task EndAsync(CancellationToken cancellationToken)
    {
        _stopping.Begin();
        if (holder.Current is { } node && !_stop.IsCancellationRequested)
        {
            await DrainAsync(node, cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
        }

        HasStopped = true;
        await SoleThreadContext.CancelAsync(_stop).ConfigureAwait(SoleThreadContext.IsCurrent);
        await _running.ConfigureAwait(SoleThreadContext.IsCurrent);
        holder.End();
        foreach (var topic in _topics)
        {
            topic.OnHostStopped(_log);
        }
    }

    // What is not drained, the node reports when it ends.
    private async Task DrainAsync(QuickSilverNode node, CancellationToken cancellationToken)
    {
        var limit = new StopLimit(settings.Hosting.DrainLimit, settings.ShutdownTimeout, _stopping.Elapsed, settings.NodesLeft);
        node.LossRemedy = limit.Remedy;
        using var own = new CancellationTokenSource(limit.Drain, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(own.Token, cancellationToken);
        try
        {
            await node.DrainAsync(either.Token).ConfigureAwait(SoleThreadContext.IsCurrent);
        }
        catch (Exception exception) when (exception is ObjectDisposedException or QuickSilverException)
        {
            // Application code has disposed the node or an endpoint, or the node was expelled: the host stops all the same.
        }
        catch (OperationCanceledException)
        {
            // The time for draining, or the host's time for stopping, is over.
        }
    }

    private async Task RunAsync(QuickSilverOptions checkedOptions)
    {
        await Task.Yield();
        var pause = FirstPause;
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                if (await LiveAsync(checkedOptions, pause).ConfigureAwait(SoleThreadContext.IsCurrent))
                {
                    pause = FirstPause;
                }

                await Task.Delay(pause, time, _stop.Token).ConfigureAwait(SoleThreadContext.IsCurrent);
            }
            catch (OperationCanceledException) when (_stop.IsCancellationRequested)
            {
                return;
            }

            pause = pause * 2 < LongestPause ? pause * 2 : LongestPause;
        }
    }

    // What these say is enough to correct the cause, and comes again with each attempt. Others are a defect, and need their stack.
    private static bool IsExplained(Exception exception) => exception is QuickSilverException or IOException;

    // One node's life; true when it had one. The pause is that before the next one.
    private async Task<bool> LiveAsync(QuickSilverOptions checkedOptions, TimeSpan pause)
    {
        QuickSilverNode node;
        try
        {
            node = await starter(checkedOptions, logs, _stop.Token).ConfigureAwait(SoleThreadContext.IsCurrent);
        }
        catch (Exception exception) when (!_stop.IsCancellationRequested)
        {
            holder.Failure = exception.Message;
            if (IsExplained(exception))
            {
                HostingLog.StartFailed(_log, exception.Message, pause.TotalSeconds);
            }
            else
            {
                HostingLog.StartThrew(_log, exception, pause.TotalSeconds);
            }

            return false;
        }

        using var life = CancellationTokenSource.CreateLinkedTokenSource(_stop.Token);
        holder.Failure = null;
        holder.Set(node);
        var openings = Task.WhenAll(_topics.Select(topic => OpenAsync(topic, node, life.Token)));
        try
        {
            await node.Expulsion.WaitAsync(_stop.Token).ConfigureAwait(SoleThreadContext.IsCurrent);
            OnExpelled();
        }
        finally
        {
            holder.Clear();
            await SoleThreadContext.CancelAsync(life).ConfigureAwait(SoleThreadContext.IsCurrent);
            await openings.ConfigureAwait(SoleThreadContext.IsCurrent);
            foreach (var topic in _topics)
            {
                topic.OnNodeLost();
            }

            await node.DisposeAsync().ConfigureAwait(SoleThreadContext.IsCurrent);
        }

        return true;
    }

    private void OnExpelled()
    {
        if (settings.Hosting.WhenExpelled == ExpulsionResponse.StartAnotherNode)
        {
            HostingLog.Restarting(_log);
            return;
        }

        HostingLog.StoppingHost(_log);
        // No other node: the host's end cancels this as well, but comes later.
        _stop.Cancel();
        settings.StopHost();
    }

    // A topic that is refused is tried again for as long as the node lives: its contract may suit others once they have been upgraded.
    private async Task OpenAsync(IHostedTopic topic, QuickSilverNode node, CancellationToken life)
    {
        if (topic.IsForConsumer && !await MayConsumeAsync(life).ConfigureAwait(SoleThreadContext.IsCurrent))
        {
            return;
        }

        var pause = FirstPause;
        int failures = 0;
        (Type Type, string Message)? logged = null;
        while (!life.IsCancellationRequested)
        {
            try
            {
                await topic.OpenAsync(node, life).ConfigureAwait(SoleThreadContext.IsCurrent);
                if (_areConsumersOver)
                {
                    // They were asked to end while the topic was being opened, and did not know of it.
                    await EndConsumersAsync([topic], life).ConfigureAwait(SoleThreadContext.IsCurrent);
                }

                if (failures > 0)
                {
                    HostingLog.TopicOpened(_log, topic.Name, failures);
                }

                return;
            }
            catch (Exception exception) when (exception is not OperationCanceledException)
            {
                // The others are of use all the same; readiness names this one.
                failures++;
                if ((exception.GetType(), exception.Message) != logged)
                {
                    logged = (exception.GetType(), exception.Message);
                    LogFailure(topic, exception, pause);
                }
            }
            catch (OperationCanceledException)
            {
                return;
            }

            await Task.Delay(pause, time, life).ConfigureAwait(SoleThreadContext.SuppressThrowing);
            pause = pause * 2 < LongestPause ? pause * 2 : LongestPause;
        }
    }

    private void LogFailure(IHostedTopic topic, Exception exception, TimeSpan pause)
    {
        if (IsExplained(exception))
        {
            HostingLog.TopicFailed(_log, topic.Name, exception.Message, pause.TotalSeconds);
        }
        else
        {
            HostingLog.TopicThrew(_log, exception, topic.Name, pause.TotalSeconds);
        }
    }

    // A node that starts while the host stops opens no consumers again.
    private async Task<bool> MayConsumeAsync(CancellationToken life)
    {
        await _consumersBegin.Task.WaitAsync(life).ConfigureAwait(SoleThreadContext.SuppressThrowing);
        return !_areConsumersOver && !life.IsCancellationRequested;
    }
}
