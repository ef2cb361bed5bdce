namespace QuickSilver.Endpoints.Subscriptions;

// What an endpoint needs when its subscribing half ends. Any thread, unless stated otherwise.
internal sealed class LeavingState(TaskCreationOptions completions)
{
    private readonly TaskCompletionSource<bool> _left = new(completions);
    private int _hasBegun;

    /// <summary>Completes when the topic has left the endpoint out, and its buffer has everything that it gets.</summary>
    public Task<bool> Left => _left.Task;

    public bool HasBegun => Volatile.Read(ref _hasBegun) != 0;

    /// <summary>Completed when the reader has ended. Under the topic's lock. Null unless the node waits for that.</summary>
    public TaskCompletionSource? Read { get; set; }

    /// <summary>Core thread: what came after the endpoint's end; null: nothing.</summary>
    public UnhandledMessages? TooLate { get; set; }

    /// <summary>Core thread: what was below the endpoint when its node ended.</summary>
    public long GivenUp { get; set; }

    /// <summary>Whether the node knows the endpoint until its reader has ended.</summary>
    public bool IsRemovedWhenRead { get; set; }

    /// <summary>Whether what the reader has not read was reported without it.</summary>
    public bool IsUnreadReported { get; set; }

    /// <summary>True for the first call.</summary>
    public bool TryBegin() => Interlocked.Exchange(ref _hasBegun, 1) == 0;

    public void OnLeft() => _left.TrySetResult(true);
}
