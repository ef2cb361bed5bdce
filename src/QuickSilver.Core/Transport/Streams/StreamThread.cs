using System.Collections.Concurrent;
using System.Diagnostics;
using System.IO.Pipelines;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Background;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Transport.Datagrams;

namespace QuickSilver.Core.Transport.Streams;

// The thread beside a node's core thread on which its TLS streams live, and the last second of all streams that the node has closed.
//
// Intuition: a handshake takes milliseconds of a processor, which the core thread does not have, and the thread pool is the application's:
// handlers that block may hold all of it for as long as they like, and a node that cannot write its heartbeat is removed. So the node has
// one more thread. It waits at a poller of its own for the sockets of these streams, and runs what they schedule here.
// Application: the code of a stream is asynchronous methods, those of the framework's TLS included. What they wait for completes here
// alone (the pipes between a socket and TLS are scheduled by this, Signal, alarms), so they continue here alone.
// What goes wrong: an await that completes elsewhere continues elsewhere. So do a source with asynchronous continuations, a cancellation
// after a time, a semaphore, and a channel: all of them use the thread pool. There must be no synchronization context either: a task that
// completes under one gives its continuations to the pool.
//
// Bounds: a stream has a few continuations here at most, and a step of a handshake takes milliseconds. So with all handshakes that may be
// under way at a time, an open stream waits for part of a second.
internal sealed class StreamThread : PipeScheduler
{
    private const int ScratchBytes = 16 << 10;
    // So much waits between a socket and TLS, each way, before the one that fills it has to wait.
    private const int FullBytes = 64 << 10;
    // Each stream that is there at the end takes less.
    private static readonly TimeSpan EndLimit = TimeSpan.FromSeconds(3);

    private readonly Thread _thread;
    private readonly ILogger _logger;
    private readonly ConcurrentQueue<(Action<object?> Action, object? State)> _work = new();
    private readonly AlarmQueue _alarms = new();
    private readonly CompletionSource[] _named = new CompletionSource[64];
    private readonly long _origin = Stopwatch.GetTimestamp();
    private int _started;
    private int _members;
    private bool _isEnding;
    private TimeSpan _endsBy;
    private volatile bool _mayRest;

    /// <exception cref="TransportException">The system refuses a poller.</exception>
    public StreamThread(string name, Func<IPoller> newPoller, ILogger logger)
    {
        _logger = logger;
        Poller = newPoller();
        Pipes = new PipeOptions(
            readerScheduler: this,
            writerScheduler: this,
            pauseWriterThreshold: FullBytes,
            resumeWriterThreshold: FullBytes / 2,
            useSynchronizationContext: false);
        _thread = new Thread(Run) { IsBackground = true, Name = name };
    }

    /// <summary>Only Post and Wake of it are for other threads. Its sources are of StreamSource.</summary>
    public IPoller Poller { get; }

    /// <summary>Of pipes whose both sides continue here.</summary>
    public PipeOptions Pipes { get; }

    /// <summary>What is received comes here first; nothing stays after the step. Stream thread only.</summary>
    public byte[] Scratch { get; } = GC.AllocateUninitializedArray<byte>(ScratchBytes, pinned: true);

    /// <summary>Monotonic time since this object was made.</summary>
    public TimeSpan Now => Stopwatch.GetElapsedTime(_origin);

    public bool IsCurrent => ReferenceEquals(Thread.CurrentThread, _thread);

    /// <summary>
    /// Runs an action here, after what was scheduled before; never within this call. From any thread. It is dropped after the end.
    /// </summary>
    public override void Schedule(Action<object?> action, object? state)
    {
        _work.Enqueue((action, state));
        // The thread looks the other way round: it says that it may rest, and then looks whether there is work.
        Interlocked.MemoryBarrier();
        if (Volatile.Read(ref _started) == 0 && Interlocked.Exchange(ref _started, 1) == 0)
        {
            Detached.Start(_thread);
        }
        else if (_mayRest)
        {
            Poller.Wake();
        }
    }

    /// <summary>
    /// Runs work that may wait, such as for files, on a thread of its own. The task completes here. Stream thread only.
    /// </summary>
    public Task<T> RunBeside<T>(Func<T> work) => Detached.RunOnThread(
        _thread.Name!, work, complete => Schedule(static action => ((Action)action!)(), complete));

    /// <summary>Sets an alarm. Stream thread only.</summary>
    public void Schedule(Alarm alarm, TimeSpan delay) => _alarms.Schedule(alarm, Now + delay);

    /// <summary>Takes an alarm back. Stream thread only.</summary>
    public void Cancel(Alarm alarm) => _alarms.Cancel(alarm);

    /// <summary>Completes after a time. Stream thread only.</summary>
    public Task Delay(TimeSpan delay)
    {
        var over = new TaskCompletionSource();
        Schedule(new Alarm(over.SetResult), delay);
        return over.Task;
    }

    /// <summary>A stream is here now, for which the end of the thread waits. From any thread.</summary>
    public void Enter() => Interlocked.Increment(ref _members);

    /// <summary>The stream needs this thread no more. Stream thread only.</summary>
    public void Leave() => Interlocked.Decrement(ref _members);

    /// <summary>The thread ends as soon as no stream is here. From any thread; does not wait.</summary>
    public void End()
    {
        if (Interlocked.Exchange(ref _started, 1) == 0)
        {
            Poller.Dispose();
            return;
        }

        Schedule(
            static thread =>
            {
                var self = (StreamThread)thread!;
                self._isEnding = true;
                self._endsBy = self.Now + EndLimit;
                self.Schedule(new Alarm(static () => { }), EndLimit);
            },
            this);
    }

    private bool IsOver => _isEnding && (Volatile.Read(ref _members) == 0 || Now >= _endsBy);

    private void Run()
    {
        try
        {
            while (!IsOver)
            {
                Turn();
            }
        }
        catch (Exception failure)
        {
            CoreLog.StreamThreadFailed(_logger, failure);
        }

        Poller.Dispose();
    }

    private void Turn()
    {
        // What is scheduled meanwhile waits for the next turn, so that sockets are looked at in between.
        for (int left = _work.Count; left > 0 && _work.TryDequeue(out var work); left--)
        {
            Do(work.Action, work.State);
        }

        for (var now = Now; _alarms.TakeDue(now) is { } alarm;)
        {
            Do(static one => ((Alarm)one!).Fire(), alarm);
        }

        if (!IsOver)
        {
            ServeSockets();
        }
    }

    private void ServeSockets()
    {
        _mayRest = true;
        Interlocked.MemoryBarrier();
        int named = Poller.Wait(_work.IsEmpty ? UntilDue() : TimeSpan.Zero, _named);
        _mayRest = false;
        foreach (var source in _named.AsSpan(0, named))
        {
            Do(static one => ((StreamSource)one!).OnReady(), source);
        }

        Array.Clear(_named, 0, named);
    }

    private TimeSpan UntilDue()
    {
        if (!_alarms.TryPeekDue(out var due))
        {
            return Timeout.InfiniteTimeSpan;
        }

        var rest = due - Now;
        return rest > TimeSpan.Zero ? rest : TimeSpan.Zero;
    }

    // The failure of one stream is not that of the others.
    private void Do(Action<object?> action, object? state)
    {
        try
        {
            action(state);
        }
        catch (Exception failure)
        {
            CoreLog.StreamThrew(_logger, failure, state);
        }
    }
}

// What waits at the poller of a stream thread. It looks itself what it is ready for.
internal abstract class StreamSource : CompletionSource
{
    public abstract void OnReady();

    public override TakeOutcome TryTake(RunMemory memory, out Completion completion)
    {
        completion = default;
        return TakeOutcome.Nothing;
    }

    public override void OnCompletion(in Completion completion)
    {
    }
}
