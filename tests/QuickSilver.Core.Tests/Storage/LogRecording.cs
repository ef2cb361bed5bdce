using QuickSilver.Core.Storage;

namespace QuickSilver.Core.Tests.Storage;

// Remembers the calls of a log, in words. Calls that a test makes from within a callback go through OnEach.
internal sealed class LogRecording : ILogObserver
{
    public List<string> Told { get; } = [];

    public List<byte[]> Reads { get; } = [];

    public long Written { get; private set; }

    public long Synced { get; private set; }

    public bool IsOpen { get; private set; }

    public bool IsClosed { get; private set; }

    public int Rooms { get; private set; }

    public LogException? Failure { get; private set; }

    /// <summary>Called with each callback, after it was noted.</summary>
    public Action<string>? OnEach { get; set; }

    public void OnOpened()
    {
        IsOpen = true;
        Tell("opened");
    }

    public void OnWritten(long length)
    {
        Written = length;
        Tell($"written {length}");
    }

    public void OnSynced(long length)
    {
        Synced = length;
        Tell($"synced {length}");
    }

    public void OnRead(long offset, ReadOnlyMemory<byte> bytes)
    {
        Reads.Add(bytes.ToArray());
        Tell($"read {offset}+{bytes.Length}");
    }

    public void OnTruncated(long length) => Tell($"truncated {length}");

    public void OnRoom()
    {
        Rooms++;
        Tell("room");
    }

    public void OnClosed(LogException? failure)
    {
        IsClosed = true;
        Failure = failure;
        Tell(failure is null ? "closed" : $"failed {failure.Error}");
    }

    private void Tell(string what)
    {
        Told.Add(what);
        OnEach?.Invoke(what);
    }
}
