using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;

namespace QuickSilver.Simulation.Tests.Infrastructure;

// Keeps what a port hands up. Control datagrams are those that end with 0xC0.
internal sealed class RecordingReceiver(INodeEnvironment environment) : IDatagramReceiver
{
    public List<(TimeSpan At, byte[] Bytes)> Runs { get; } = [];

    public List<int> Offsets { get; } = [];

    public int Batches { get; private set; }

    public Action<ReceivedRun>? Then { get; set; }

    public bool IsControl(ReadOnlySpan<byte> firstBytes) => firstBytes[^1] == 0xC0;

    public void OnRun(in ReceivedRun run)
    {
        Assert.Equal(run.Span.ToArray(), run.Lease.Memory.Slice(run.Offset, run.Length).ToArray());
        Runs.Add((environment.Now, run.Span.ToArray()));
        Offsets.Add(run.Offset);
        Then?.Invoke(run);
    }

    public void OnBatchEnd() => Batches++;

    /// <summary>All runs cut into datagrams of this size.</summary>
    public IEnumerable<byte[]> Datagrams(int bytes) => Runs.SelectMany(run => run.Bytes.Chunk(bytes));

    /// <summary>The number in each datagram's first four bytes.</summary>
    public int[] Numbers(int datagramBytes) => [.. Datagrams(datagramBytes).Select(datagram => BitConverter.ToInt32(datagram))];
}
