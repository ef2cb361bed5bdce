using System.Text;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Storage;
using QuickSilver.Core.Transport;

namespace QuickSilver.Core.Tests.Completions;

// The calls of owners, in order. All of it happens on the core thread.
internal sealed class CompletionRecording : IDatagramReceiver, IControlStreamHandler, IControlAcceptor, ILogObserver
{
    public List<string> Told { get; } = [];

    public List<int> Runs { get; } = [];

    public StringBuilder Bytes { get; } = new();

    public long ByteCount { get; private set; }

    public List<IControlStream> Accepted { get; } = [];

    public Action<IDatagramPort>? OnEachRun { get; init; }

    // Set: the memory of each run is kept here.
    public List<Lease>? Kept { get; init; }

    public CompletionRecording? Acceptance { get; init; }

    public bool IsControl(ReadOnlySpan<byte> firstBytes) => false;

    public void OnRun(in ReceivedRun run)
    {
        for (int at = 0; at + sizeof(int) <= run.Length; at += sizeof(int))
        {
            Runs.Add(BitConverter.ToInt32(run.Span[at..]));
        }

        if (Kept is not null)
        {
            run.Lease.AddClaim();
            Kept.Add(run.Lease);
        }

        OnEachRun?.Invoke(run.Port);
    }

    public void OnBatchEnd()
    {
    }

    public void OnConnected(IControlStream stream) => Told.Add("connected");

    public int OnBytes(IControlStream stream, ReadOnlySpan<byte> bytes)
    {
        ByteCount += bytes.Length;
        if (bytes.Length < 1000)
        {
            Bytes.Append(Encoding.ASCII.GetString(bytes));
        }

        return bytes.Length;
    }

    public void OnClosed(IControlStream stream, string reason) => Told.Add("closed: " + reason);

    public IControlStreamHandler? OnAccept(IControlStream stream)
    {
        Accepted.Add(stream);
        return Acceptance;
    }

    public void OnOpened() => Told.Add("opened");

    public void OnWritten(long end) => Told.Add($"written {end}");

    public void OnSynced(long end) => Told.Add($"synced {end}");

    public void OnRead(long offset, ReadOnlyMemory<byte> bytes) => Told.Add("read");

    public void OnTruncated(long length) => Told.Add($"truncated {length}");

    public void OnRoom() => Told.Add("room");

    public void OnClosed(LogException? failure) => Told.Add(failure is null ? "closed" : "failed");
}
