using System.Runtime.CompilerServices;
using QuickSilver.Simulation.Topics;

namespace QuickSilver.Simulation.Machines;

// One process: a QuickSilver node over one life of a machine, and its user's code in a context of its own. A process whose
// node cannot join, or is removed by the membership service, is ended and started again a moment later, as whatever looks
// after processes on a machine would.
internal sealed class NodeLife
{
    private static readonly TimeSpan LongestWait = TimeSpan.FromMilliseconds(300);

    private readonly SimulatedCluster _cluster;
    private readonly SimulatedNode _owner;
    private readonly SimulatedEnvironment _environment;
    private readonly QuickSilverOptions _options;
    private readonly ProcessContext _context;
    // Gives up the start; null once it has joined.
    private CancellationTokenSource? _start = new();
    private readonly SeededRandom _own;
    private readonly ulong _which;
    private bool _isOver;

    public NodeLife(SimulatedCluster cluster, SimulatedNode owner, SimulatedEnvironment environment)
    {
        _cluster = cluster;
        _owner = owner;
        _environment = environment;
        _options = cluster.ProtocolOptions.Node;
        _context = new ProcessContext(environment, cluster.Escapes);
        environment.Process = _context;
        environment.StorageDirectory = _options.StorageDirectory;
        _which = ((ulong)(uint)owner.Number << 32) | (uint)owner.Lives;
        Parts = new SimulatedParts(environment, cluster.ProtocolOptions, cluster.Services, cluster.Configurations, cluster.Logs)
        {
            Watch = new WatchedTopics.Settings(
                SeededRandom.Derive(cluster.Options.Seed, purpose: 15, _which).Next(),
                cluster.Options.TopicDelay,
                cluster.Options.NotesDeliveries ? owner.NoteDeliveries : null),
        };
        _own = SeededRandom.Derive(cluster.Options.Seed, purpose: 12, _which);
    }

    public SimulatedParts Parts { get; }

    public SimulatedEnvironment Environment => _environment;

    public Random Random => field ??= new SimulatedRandom(SeededRandom.Derive(_cluster.Options.Seed, purpose: 11, _which));

    /// <summary>Null until it has joined.</summary>
    public QuickSilverNode? Node { get; private set; }

    public void Begin() => _context.Post(static state => ((NodeLife)state!).RunSafely(((NodeLife)state).RunAsync), this);

    public void Post(Func<Task> code) => _context.Post(_ => RunSafely(code), null);

    /// <summary>The process is gone.</summary>
    public void End() => _isOver = true;

    /// <summary>After the run: frees what a dead process would have taken with it.</summary>
    public void CleanUp()
    {
        _start?.Cancel();
        // Its machine is dead, and a dead machine's timers are over at once: this ends at once.
        _ = Node?.DisposeAsync();
    }

    private async Task RunAsync()
    {
        QuickSilverNode node;
        try
        {
            node = await QuickSilverNode.StartAsync(Parts, _options, _cluster.Logs, _start!.Token);
        }
        catch (Exception exception) when (exception is MembershipUnreachableException or IOException || IsEnd(exception))
        {
            RestartSoon();
            return;
        }

        Node = node;
        _start = null;
        RestartWhenExpelled(node.Expulsion.GetAwaiter());
        if (_cluster.Application is { } application)
        {
            await application(_owner);
        }
    }

    // Nearly every node waits like this forever: an asynchronous method's machinery would be some 600 bytes more.
    private void RestartWhenExpelled(TaskAwaiter expulsion)
    {
        if (expulsion.IsCompleted)
        {
            RestartSoon();
        }
        else
        {
            expulsion.OnCompleted(RestartSoon);
        }
    }

    // What a process throws is its user's fault, unless it only heard of the end of its node.
    private async void RunSafely(Func<Task> code)
    {
        try
        {
            await code();
        }
        catch (Exception exception) when (IsEnd(exception) && Node?.Status.State is NodeState.Expelled)
        {
        }
        catch (Exception exception)
        {
            _cluster.Fail($"The code of {_owner}", exception);
        }
    }

    private void RestartSoon()
    {
        if (_isOver)
        {
            return;
        }

        int life = _owner.Lives;
        _cluster.Machines.After(_own.Between(TimeSpan.FromMilliseconds(1), LongestWait), () =>
        {
            if (_owner.Lives != life || !_owner.IsUp)
            {
                return;
            }

            _owner.Crash();
            _cluster.Machines.After(_own.UpTo(LongestWait), () =>
            {
                if (_owner.Lives == life && !_owner.IsUp)
                {
                    _owner.Start();
                }
            });
        });
    }

    private static bool IsEnd(Exception exception) =>
        exception is NodeExpelledException or ObjectDisposedException or OperationCanceledException;
}
