using QuickSilver.Core.Environment;
using QuickSilver.Core.Storage;

namespace QuickSilver.Core.Tests.Storage;

// A node with a disk, for tests that hold for every environment.
internal abstract class LogHouse : IDisposable
{
    /// <summary>Does something on the core thread. What it throws is thrown here.</summary>
    public abstract void Do(Action work);

    /// <summary>Lets the node work until a condition, looked at on the core thread, holds.</summary>
    public abstract void Until(Func<bool> condition, string what);

    /// <summary>Ends the process at once, and begins another on the same machine.</summary>
    public abstract void Restart();

    public abstract void Dispose();

    /// <summary>The environment of the present process.</summary>
    public abstract INodeEnvironment Node { get; }

    /// <summary>Begins to open a log, and does something with it in the same step of the core thread.</summary>
    public OpenLog TryOpen(LogOptions options, Action<INodeLog>? first = null)
    {
        var recording = new LogRecording();
        INodeLog? log = null;
        Do(() =>
        {
            log = Node.OpenLog(options, recording);
            first?.Invoke(log);
        });
        return new OpenLog(this, log!, recording);
    }

    public LogListing List()
    {
        LogListing? listing = null;
        Do(() => Node.ListLogs(logs => listing = logs));
        Until(() => listing is not null, "the logs are listed");
        return listing!.Value;
    }

    /// <summary>Why a log was not deleted; null: it was.</summary>
    public LogException? Delete(string name)
    {
        bool hasEnded = false;
        LogException? failure = null;
        Do(() => Node.DeleteLog(name, why =>
        {
            failure = why;
            hasEnded = true;
        }));
        Until(() => hasEnded, "the deletion has ended");
        return failure;
    }

    public OpenLog Open(string name = "log", int blockBytes = LogOptions.MinBlockBytes, int preallocated = 0)
    {
        var log = TryOpen(new LogOptions { Name = name, BlockBytes = blockBytes, PreallocatedBytes = preallocated });
        Until(() => log.Told.IsOpen, "the log is open");
        return log;
    }
}

// An open log, its callbacks, and calls that wait for their ends.
internal sealed class OpenLog(LogHouse house, INodeLog log, LogRecording told)
{
    public INodeLog Log => log;

    public LogRecording Told => told;

    public LogOutcome Append(ReadOnlyMemory<byte> bytes) => Ask(() => log.Append(bytes.Span));

    public void AppendAndSync(ReadOnlyMemory<byte> bytes)
    {
        Assert.Equal(LogOutcome.Accepted, Append(bytes));
        Sync();
    }

    public void Sync()
    {
        long length = 0;
        Assert.Equal(LogOutcome.Accepted, Ask(() =>
        {
            length = log.Length;
            return log.Sync();
        }));
        house.Until(() => told.Synced >= length && log.DurableLength >= length, "the log is synced");
    }

    public byte[] Read(long offset, int bytes)
    {
        int reads = told.Reads.Count;
        Assert.Equal(LogOutcome.Accepted, Ask(() => log.Read(offset, new byte[bytes])));
        house.Until(() => told.Reads.Count > reads, "the read has ended");
        return told.Reads[reads];
    }

    public byte[] ReadAll() => Read(0, (int)log.Length);

    public void Truncate(long length)
    {
        int before = told.Told.Count;
        Assert.Equal(LogOutcome.Accepted, Ask(() => log.Truncate(length)));
        house.Until(() => told.Told.IndexOf($"truncated {length}", before) >= 0, "the log is truncated");
    }

    public void Close()
    {
        house.Do(log.Dispose);
        house.Until(() => told.IsClosed, "the log is closed");
    }

    public T Ask<T>(Func<T> call)
    {
        T answer = default!;
        house.Do(() => answer = call());
        return answer;
    }
}
