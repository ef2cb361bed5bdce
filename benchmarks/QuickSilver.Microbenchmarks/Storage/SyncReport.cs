using System.Diagnostics;
using System.Globalization;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Win32.SafeHandles;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Storage;

namespace QuickSilver.Microbenchmarks.Storage;

// How long an append waits for its sync: by files, with each way to flush and to make room, and by a log of a node, to the callback.
internal static class SyncReport
{
    private const int Appends = 400;
    private const int Preallocated = 4 << 20;

    private static readonly int[] Sizes = [512, 4096, 65536];

    public static void Run(string directory)
    {
        Directory.CreateDirectory(directory);
        Console.WriteLine("bytes   what                          median ms   p99 ms");
        foreach (int size in Sizes)
        {
            Report(size, "file, grows, fsync", OfFile(directory, size, isPreallocated: false, FileFlush.All));
            Report(size, "file, grows, fdatasync", OfFile(directory, size, isPreallocated: false, FileFlush.Data));
            Report(size, "file, preallocated, fsync", OfFile(directory, size, isPreallocated: true, FileFlush.All));
            Report(size, "file, preallocated, fdatasync", OfFile(directory, size, isPreallocated: true, FileFlush.Data));
            Report(size, "log", OfLog(directory, size, preallocated: 0));
            Report(size, "log, preallocated", OfLog(directory, size, Preallocated));
        }
    }

    private static double[] OfFile(string directory, int size, bool isPreallocated, Action<SafeFileHandle> flush)
    {
        string path = Path.Combine(directory, "sync-report");
        using var file = File.OpenHandle(
            path, FileMode.Create, FileAccess.ReadWrite, FileShare.None, FileOptions.DeleteOnClose);
        if (isPreallocated)
        {
            RandomAccess.Write(file, new byte[Appends * size], 0);
            FileFlush.All(file);
        }

        var bytes = NewBytes(size);
        return Time(i =>
        {
            RandomAccess.Write(file, bytes, (long)i * size);
            flush(file);
        });
    }

    private static double[] OfLog(string directory, int size, int preallocated)
    {
        string logs = Path.Combine(directory, "sync-report-logs");
        var options = new MachineEnvironmentOptions { StorageDirectory = logs, BufferBytes = 1 << 20 };
        using var node = MachineEnvironment.Start(options, NullLoggerFactory.Instance);
        using var user = new User();
        INodeLog log = null!;
        user.Do(node, () => log = node.OpenLog(
            new LogOptions { Name = "sync", BlockBytes = 1 << 20, PreallocatedBytes = preallocated }, user));
        var bytes = NewBytes(size);
        var times = Time(_ => user.Do(node, () =>
        {
            log.Append(bytes);
            log.Sync();
        }));
        user.Do(node, log.Dispose);
        user.DeleteLog(node, "sync");
        return times;
    }

    private static byte[] NewBytes(int size)
    {
        var bytes = new byte[size];
        new Random(1).NextBytes(bytes);
        return bytes;
    }

    private static double[] Time(Action<int> append)
    {
        var times = new double[Appends];
        for (int i = 0; i < Appends; i++)
        {
            long began = Stopwatch.GetTimestamp();
            append(i);
            times[i] = Stopwatch.GetElapsedTime(began).TotalMilliseconds;
        }

        Array.Sort(times);
        return times;
    }

    private static void Report(int size, string what, double[] times) => Console.WriteLine(string.Create(
        CultureInfo.InvariantCulture, $"{size,-8}{what,-30}{times[Appends / 2],9:0.000}{times[Appends * 99 / 100],9:0.000}"));

    // Waits for the end of what it asked for.
    private sealed class User : ILogObserver, IDisposable
    {
        private readonly SemaphoreSlim _end = new(0);

        public void Do(MachineEnvironment node, Action call)
        {
            node.Post(new ActionRequest(call));
            _end.Wait();
        }

        public void DeleteLog(MachineEnvironment node, string name) => Do(node, () => node.DeleteLog(name, _ => _end.Release()));

        public void OnOpened() => _end.Release();

        public void OnWritten(long length)
        {
        }

        public void OnSynced(long length) => _end.Release();

        public void OnRead(long offset, ReadOnlyMemory<byte> bytes)
        {
        }

        public void OnTruncated(long length)
        {
        }

        public void OnRoom()
        {
        }

        public void OnClosed(LogException? failure) => _end.Release();

        public void Dispose() => _end.Dispose();
    }
}
