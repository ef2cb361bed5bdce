using System.Diagnostics;

namespace QuickSilver.Microbenchmarks.DataPath;

// The receive benchmark in a few seconds and in the units that matter: nanoseconds and bytes allocated per message, the best
// of many passes, on one thread.
internal static class ReceiveReport
{
    private const int Passes = 300;

    public static void Run()
    {
        foreach (int size in (int[])[100, 1000])
        {
            var benchmark = new ReceiveBenchmarks { MessageBytes = size };
            benchmark.Setup();
            long messages = benchmark.MessagesPerPass;
            var (receive, bytes) = Measure(benchmark, benchmark.Receive);
            if (benchmark.BytesHandled != messages * size * ((2 * Passes) + 1))
            {
                throw new InvalidOperationException($"Only {benchmark.BytesHandled} bytes came to the handler.");
            }

            var (read, readBytes) = Measure(benchmark, benchmark.Read);
            var (checksums, _) = Measure(benchmark, benchmark.Checksums);
            Console.WriteLine(
                $"{size,5} B: {receive / messages:0.0} ns per message to a handler, {read / messages:0.0} ns to a reader, "
                + $"{checksums / messages:0.0} ns of both for the checksum; "
                + $"{(double)bytes / messages / Passes:0.000} and {(double)readBytes / messages / Passes:0.000} B allocated");
        }
    }

    private static (double BestNanoseconds, long Allocated) Measure(ReceiveBenchmarks benchmark, Func<long> pass)
    {
        double best = double.MaxValue;
        long allocated = 0;
        for (int i = 0; i < 2 * Passes; i++)
        {
            benchmark.Rewind();
            long before = GC.GetAllocatedBytesForCurrentThread();
            long began = Stopwatch.GetTimestamp();
            pass();
            best = Math.Min(best, Stopwatch.GetElapsedTime(began).TotalNanoseconds);
            allocated += i < Passes ? 0 : GC.GetAllocatedBytesForCurrentThread() - before;
        }

        return (best, allocated);
    }
}
