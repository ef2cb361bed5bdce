using System.Diagnostics;
using System.Globalization;
using System.Reflection;

[assembly: AssemblyFixture(typeof(QuickSilver.Tests.Infrastructure.TestPhase))]

namespace QuickSilver.Tests.Infrastructure;

// Decides when a suite runs, whatever the order in which suites are started. Two suites at a time hold places and a lock that they share.
// A suite that measures processes holds that lock alone: its project says RunsAlone. While it waits, it closes a gate behind which new
// suites wait, so that its wait ends with the suites that run. A suite that only computes, in virtual time, says GivesWay: it runs beside
// all others, and gets the processor time that they leave. The system releases the locks of a process that ends.
public sealed class TestPhase : IAsyncLifetime
{
    private const int Places = 2;
    private const int PlacesOfThoseThatGiveWay = 3;
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(250);

    private readonly List<FileStream> _held = [];

    public async ValueTask InitializeAsync()
    {
        // Programs that run for seconds pay for the profiles of the runtime with a quarter of their processor time, and never use them.
        Environment.SetEnvironmentVariable("DOTNET_TieredPGO", "0");
        if (Says("GivesWay") && TryGiveWay())
        {
            _held.Add(await LockAsync(FileShare.None, PlacesOf("computing", PlacesOfThoseThatGiveWay)));
        }
        else if (Says("RunsAlone"))
        {
            await using var gate = await LockAsync(FileShare.None, "gate");
            _held.Add(await LockAsync(FileShare.None, "suites"));
        }
        else
        {
            _held.Add(await LockAsync(FileShare.None, PlacesOf("place", Places)));
            await using var gate = await LockAsync(FileShare.Read, "gate");
            _held.Add(await LockAsync(FileShare.Read, "suites"));
        }
    }

    public async ValueTask DisposeAsync()
    {
        NoteProcessorTime();
        foreach (var held in _held)
        {
            await held.DisposeAsync();
        }
    }

    // What the suite and the processes that it has waited for have taken, in ticks of 10 ms, for the table of .ci/run.
    private static void NoteProcessorTime()
    {
        if (!OperatingSystem.IsLinux())
        {
            return;
        }

        string folder = Directory.CreateDirectory(Path.Combine(RepositoryRoot.Path, "artifacts", "processor-time")).FullName;
        string[] numbers = File.ReadAllText("/proc/self/stat").Split(") ")[^1].Split(' ');
        const int userTicks = 11;
        long ticks = numbers[userTicks..(userTicks + 4)].Sum(static number => long.Parse(number, CultureInfo.InvariantCulture));
        File.WriteAllText(Path.Combine(folder, typeof(TestPhase).Assembly.GetName().Name!), $"{ticks / 100}\n");
    }

    private static bool Says(string key) =>
        typeof(TestPhase).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>().Any(metadata => metadata.Key == key);

    // The scheduling class of Linux whose threads run only where no other thread would. Threads and processes to come inherit it.
    private static bool TryGiveWay()
    {
        try
        {
            using var chrt = Process.Start("chrt", ["--all-tasks", "--idle", "--pid", "0", $"{Environment.ProcessId}"]);
            chrt.WaitForExit();
            return chrt.ExitCode == 0;
        }
        catch (System.ComponentModel.Win32Exception)
        {
            return false;
        }
    }

    // The first of these locks that is free, or becomes so.
    private static async Task<FileStream> LockAsync(FileShare share, params IEnumerable<string> names)
    {
        while (true)
        {
            foreach (string name in names)
            {
                if (TryLock(name, share) is { } held)
                {
                    return held;
                }
            }

            await Task.Delay(Pause, TestContext.Current.CancellationToken);
        }
    }

    private static IEnumerable<string> PlacesOf(string name, int count) => Enumerable.Range(0, count).Select(place => $"{name}-{place}");

    private static FileStream? TryLock(string name, FileShare share)
    {
        string folder = Directory.CreateDirectory(Path.Combine(RepositoryRoot.Path, "artifacts", "locks")).FullName;
        try
        {
            return new FileStream(Path.Combine(folder, name), FileMode.OpenOrCreate, FileAccess.Read, share);
        }
        catch (IOException)
        {
            return null;
        }
    }
}
