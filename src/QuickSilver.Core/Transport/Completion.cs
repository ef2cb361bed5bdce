using QuickSilver.Core.Buffers;
using QuickSilver.Core.Transport.Datagrams;

namespace QuickSilver.Core.Transport;

internal enum CompletionKind
{
    None = 0,

    // A run of datagrams came, in leased memory.
    Run,

    // Bytes of a stream came; their source holds them.
    Bytes,

    // Bytes were sent that the system had no room for when they were given to it.
    Sent,

    // A stream that this node began is open.
    Connected,

    // A stream that a peer began is open.
    Accepted,

    // The peer has closed the stream.
    Ended,

    // An operation failed; the value is the system's error code.
    Error,

    // An operation of a log is done, or has failed.
    Disk,
}

// The end of one operation, and whose it was. The claim on the memory of a run goes with it.
internal readonly struct Completion
{
    // Where there is no run, its numbers are the kind and the value: a completion is copied into queues, so it is small.
    private readonly PlacedRun _run;

    public Completion(CompletionSource source, in PlacedRun run)
    {
        Source = source;
        _run = run;
    }

    public Completion(CompletionSource source, CompletionKind kind, int value = 0)
    {
        Source = source;
        _run = new PlacedRun(null!, (int)kind, value);
    }

    public CompletionSource Source { get; }

    /// <summary>The run, or what stands in its place.</summary>
    public PlacedRun Run => _run;

    public CompletionKind Kind => _run.Lease is not null ? CompletionKind.Run : (CompletionKind)_run.Offset;

    /// <summary>How many bytes, or which error.</summary>
    public int Value => _run.Length;

    /// <summary>It will not be handled: gives the memory back.</summary>
    public void Drop()
    {
        if (Kind == CompletionKind.Run)
        {
            _run.Lease.Release();
        }
        else
        {
            Source.OnDropped(this);
        }
    }

    public override string ToString() => $"{Kind} of {Source}";
}

internal enum TakeOutcome
{
    Taken = 0,

    // No operation is done.
    Nothing,

    // Something may have come, and there is no memory for it.
    NoMemory,
}

// Something that completes operations: a port, a control stream, a listener, the disk. The poller reports that it has completions, and the
// core thread takes them one by one, for as long as it has room for them: what it does not take stays where it is, in the kernel as a
// rule. All calls are the core thread's.
//
// Invariants: a source that is closed yields nothing. What was taken before that and not handed over is dropped.
internal abstract class CompletionSource
{
    public abstract bool IsClosed { get; }

    /// <summary>Takes the completion that has waited longest.</summary>
    public abstract TakeOutcome TryTake(RunMemory memory, out Completion completion);

    /// <summary>Handles a completion that is not a run, at the turn of its priority.</summary>
    public abstract void OnCompletion(in Completion completion);

    /// <summary>The core thread ends, and will not handle a completion that is not a run.</summary>
    public virtual void OnDropped(in Completion completion)
    {
    }
}

// A run in memory, with one claim on it.
internal readonly record struct PlacedRun(Lease Lease, int Offset, int Length)
{
    /// <summary>How many datagrams it has; 0 where the system does not say.</summary>
    public int Datagrams { get; init; }

    public ReadOnlySpan<byte> Span => Lease.Span.Slice(Offset, Length);
}
