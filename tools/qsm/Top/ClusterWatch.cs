using System.Collections.Immutable;
using System.Net;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Composition;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Client.Watching;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Top;

// Watches a cluster over the machine's environment, on a core thread of its own: one question at a time, and what comes back.
internal sealed class ClusterWatch : IClusterSnapshotReader, IAsyncDisposable
{
    // How soon the first rates come.
    private static readonly TimeSpan FirstWait = TimeSpan.FromMilliseconds(500);

    private readonly MachineEnvironment _environment;
    private readonly ClusterObserver _observer;
    private readonly int _rows;
    private readonly bool _sendsEchoes;
    private TaskCompletionSource<ClusterSnapshot>? _answer;
    private TaskCompletionSource<ClusterTopics>? _topics;
    // Why no more answers come; null while they do.
    private ToolException? _end;

    private ClusterWatch(
        QuickSilverOptions options,
        IPAddress local,
        ILoggerFactory logs,
        ImmutableArray<IPEndPoint> servers,
        int rows,
        bool sendsEchoes = false)
    {
        var credentials = SecurityComposition.CredentialsOf(options, logs);
        _environment = MachineEnvironment.Start(
            new MachineEnvironmentOptions
            {
                Name = "QuickSilver observer",
                LocalAddress = local,
                BufferBytes = 16 << 20,
                Credentials = credentials,
            },
            logs);
        _rows = rows;
        _sendsEchoes = sendsEchoes;
        var discovery = ProtocolOptions.Of(options, new ProtocolSetup { Credentials = credentials }).Discovery;
        var logger = logs.CreateLogger("QuickSilver.Membership");
        _observer = new ClusterObserver(_environment, servers, options.Cluster, discovery, this, logger);
    }

    /// <summary>Where the service is; null before the first answer.</summary>
    public IPEndPoint? Service => _observer.Service;

    /// <summary>The certificates of the servers to which it has connected.</summary>
    public IReadOnlyDictionary<IPEndPoint, PeerCertificate> Certificates => _observer.Certificates;

    /// <summary>Under which nodes seal echoes; null: they do not, or it was not asked for, or the service does not send it.</summary>
    public ClusterKey? ClusterKey => _observer.ClusterKey;

    /// <summary>Whether a server answered that it does not lead, and none was found that does.</summary>
    public bool IsWithoutLeader => _observer.IsWithoutLeader;

    /// <summary>Why the keys of both sides do not fit, if that ended it.</summary>
    public KeyFault KeyFault => _observer.KeyFault;

    /// <param name="session">Of the command.</param>
    /// <param name="isVerbose">Whether its log gets messages, which would go into the middle of a screen.</param>
    /// <param name="rows">Of regions, and of topics, for each node.</param>
    /// <param name="isExamination">
    /// Whether to look also where nothing protects it: what is wrong is to be found. The key of the cluster is asked for, so that echoes
    /// can be sent.
    /// </param>
    public static async Task<ClusterWatch> StartAsync(Session session, bool isVerbose, int rows, bool isExamination = false)
    {
        try
        {
            OptionRules.Check(session.Options);
            var servers = session.Options.Membership is { HasServers: true } membership
                ? await NodeComposition.ResolveAsync(membership.Servers, session.Options.Interface.Family, session.Interrupted)
                : [];
            var choice = NodeComposition.Choose(session.Options.Interface, servers);
            if (!isExamination)
            {
                LoopbackRule.Check(session.Options.Security, choice);
            }

            var local = choice.Address;
            var logs = isVerbose ? session.Logs : NullLoggerFactory.Instance;
            return new ClusterWatch(session.Options, local, logs, servers, rows, sendsEchoes: isExamination);
        }
        catch (Exception exception) when (exception is not OperationCanceledException)
        {
            throw ToolException.OnStart(exception);
        }
    }

    /// <summary>Watches through one server, whatever others the options name, and whether or not anything protects it.</summary>
    public static ClusterWatch Start(Session session, bool isVerbose, IPAddress local, IPEndPoint server)
    {
        try
        {
            return new ClusterWatch(session.Options, local, isVerbose ? session.Logs : NullLoggerFactory.Instance, [server], rows: 1);
        }
        catch (Exception exception) when (exception is not OperationCanceledException)
        {
            throw ToolException.OnStart(exception);
        }
    }

    /// <summary>
    /// Asks for the first time and waits a moment, so that the next answer has rates: this one covers all the time
    /// since an observer watched before.
    /// </summary>
    /// <param name="interval">Between answers. If it is shorter than the moment, it is the wait.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public async Task BeginAsync(TimeSpan interval, CancellationToken cancellationToken)
    {
        await AskAsync(cancellationToken);
        await Task.Delay(interval < FirstWait ? interval : FirstWait, cancellationToken);
    }

    /// <summary>Asks, and waits for the answer. The observer ends the wait if none comes in time.</summary>
    public Task<ClusterSnapshot> AskAsync(CancellationToken cancellationToken) => AskAsync<ClusterSnapshot>(
        answer =>
        {
            _answer = answer;
            _observer.Ask(_rows, _sendsEchoes);
        },
        cancellationToken);

    /// <summary>Asks for topics: a page of all, or the versions of one. As <see cref="AskAsync(CancellationToken)"/>.</summary>
    public Task<ClusterTopics> AskTopicsAsync(string name, ulong after, CancellationToken cancellationToken) => AskAsync<ClusterTopics>(
        answer =>
        {
            _topics = answer;
            _observer.AskTopics(name, after);
        },
        cancellationToken);

    private Task<T> AskAsync<T>(Action<TaskCompletionSource<T>> ask, CancellationToken cancellationToken)
    {
        var answer = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        _environment.Post(new ActionRequest(() =>
        {
            if (_end is not null)
            {
                answer.SetException(_end);
                return;
            }

            ask(answer);
        }));
        return answer.Task.WaitAsync(cancellationToken);
    }

    void IClusterSnapshotReader.OnTopics(ClusterTopics topics) => _topics?.TrySetResult(topics);

    void IClusterSnapshotReader.OnAnswer(ClusterSnapshot signs) => _answer?.TrySetResult(signs);

    void IClusterSnapshotReader.OnEnded(string reason, bool isRefusal)
    {
        _end = new ToolException(isRefusal ? ExitCode.Failed : ExitCode.Unreachable, reason);
        _answer?.TrySetException(_end);
        _topics?.TrySetException(_end);
    }

    public async ValueTask DisposeAsync()
    {
        var closed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _environment.Post(new ActionRequest(() =>
        {
            _observer.Dispose();
            closed.SetResult();
        }));
        await closed.Task;
        _environment.Dispose();
    }
}
